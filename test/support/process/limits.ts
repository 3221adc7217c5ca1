/** The words before a command that let it make no file above so many KiB. A shell would say on standard error that it lacks a locale. */
export function filesUpTo(kibibytes: number): readonly string[] {
  return ['env', 'LC_ALL=C', 'bash', '-c', `ulimit -f ${kibibytes}; exec "$0" "$@"`]
}
