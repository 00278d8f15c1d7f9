/** How the command line names itself in the header `user-agent`. */
export const COMMAND_LINE = "tollgate-cli";
