// exitText: an exit code and what it usually means.

const meanings: ReadonlyMap<number, string> = new Map([
  [126, 'its command cannot be executed'],
  [127, 'its command was not found'],
  [134, 'it aborted, SIGABRT'],
  [137, 'it was killed, SIGKILL'],
  [139, 'it accessed invalid memory, SIGSEGV'],
  [143, 'it was terminated, SIGTERM'],
])

/** `code 127 (Error: its command was not found)` */
export function exitText(code: number, reason: string): string {
  const meaning = meanings.get(code)
  return `code ${code} (${reason}${meaning === undefined ? '' : `: ${meaning}`})`
}
