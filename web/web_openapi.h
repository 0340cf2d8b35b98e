#ifndef WEB_OPENAPI_H
#define WEB_OPENAPI_H
/* The document of the interface (OpenAPI 3.0), made from the table of routes. */

struct web_call;

void web_openapi_show(struct web_call *w);

#endif
