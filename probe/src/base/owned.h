/* Whose a directory is. */
#ifndef STEND_OWNED_H
#define STEND_OWNED_H

/* Ends the program with one line and EXIT_USAGE if another user owns the directory, may write in it, or could put another in
 * its place: in a directory above that is writable, sticky ones of the system such as /tmp apart. Where it is not there
 * yet, those above are looked at. */
void owned_check(const char *path);

#endif
