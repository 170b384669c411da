/* One file each. `argv[0]` is the subcommand's name; the result is the exit status. */
#ifndef STEND_COMMANDS_H
#define STEND_COMMANDS_H

#include <stdbool.h>

int command_info(int argc, char **argv);
int command_cipher(int argc, char **argv);
int command_copy(int argc, char **argv);
int command_pipe(int argc, char **argv);
int command_switch(int argc, char **argv);
int command_fizzbuzz(int argc, char **argv);
int command_sample(int argc, char **argv);
int command_clock(int argc, char **argv);
int command_lock(int argc, char **argv);
int command_loop(int argc, char **argv);
int command_run(int argc, char **argv);
int command_guard(int argc, char **argv);
int command_stand_in(int argc, char **argv);

/* Whether it can stand in for the program of this name, and doing so: `words` are its arguments, ended by NULL. */
bool stand_in_knows(const char *name);
int stand_in(const char *name, char **words);

#endif
