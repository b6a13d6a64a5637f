// Commands as they are typed, with what they print.
import { commands } from '../commands.ts'
import { run } from '../run.ts'

/** `onOutput` gets what was printed so far. */
export async function typed(
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  onOutput: (printed: string) => void = () => undefined,
  signal = new AbortController().signal,
) {
  let printed = ''
  let complained = ''
  const code = await run(commands, argv, {
    out: (text) => onOutput((printed += text)),
    err: (text) => void (complained += text),
    isTerminal: false,
    environment,
    signal,
    startedMs: 0,
  })
  return { code, printed, complained }
}
