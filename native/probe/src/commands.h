/* One file each. `argv[0]` is the subcommand's name; the result is the exit status. */
#ifndef STEND_COMMANDS_H
#define STEND_COMMANDS_H

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

#endif
