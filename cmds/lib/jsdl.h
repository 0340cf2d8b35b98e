#ifndef JSDL_H
#define JSDL_H
/* Argument lists inside attributes: <jsdl-hpcpa:Argument>text</jsdl-hpcpa:Argument>, one behind the other,
 * with &amp; &lt; &gt; for what XML would misread. Executables the same with Executable. */
struct strbuf;

/* Add one element. tag: "Argument" or "Executable". Return -1: the buffer has failed. */
int jsdl_add(struct strbuf *out, const char *tag, const char *text);

/* Add the texts of all elements as they were, with a blank between; other text stays as it is. Return -1: the buffer
 * has failed. */
int jsdl_plain(struct strbuf *out, const char *text);

#endif
