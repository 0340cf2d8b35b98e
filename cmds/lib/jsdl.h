#ifndef JSDL_H
#define JSDL_H
/* Argument lists inside attributes: <jsdl-hpcpa:Argument>text</jsdl-hpcpa:Argument>, one behind the other,
 * with &amp; &lt; &gt; for what XML would misread. Executables the same with Executable. */
struct strbuf;

/* tag: "Argument" or "Executable". -1: the buffer has failed. */
int jsdl_add(struct strbuf *out, const char *tag, const char *text);

/* The texts of all elements, with a blank between, back as they were; what is no element stays as it is.
 * -1: the buffer has failed. */
int jsdl_plain(struct strbuf *out, const char *text);

#endif
