/* What small programs do that a machine may lack. */
#ifndef STEND_STAND_IN_H
#define STEND_STAND_IN_H

/* Makes a link to stend-probe for each of them in a directory that is there; NULL: takes the links away. */
void stand_in_link(const char *directory, const char *probe);

#endif
