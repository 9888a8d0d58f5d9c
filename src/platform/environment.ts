/** The environment of the process; only option parsing reads it. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
