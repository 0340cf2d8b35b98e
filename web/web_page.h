#ifndef WEB_PAGE_H
#define WEB_PAGE_H
/* The page: files that are part of the program, so there is no path of the host that a request could name. */

struct web_call;

void web_page_index(struct web_call *w);
void web_page_asset(struct web_call *w);

#endif
