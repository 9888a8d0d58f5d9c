/** The variables of the process, for those who parse options; nobody else reads them. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
