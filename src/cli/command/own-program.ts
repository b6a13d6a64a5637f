// How this program is started: as an executable, which contains Node.js, by the launcher of a checkout, or by this Node.js with
// the program of the package.
import { isSea } from 'node:sea'

/** As this process was started. */
export const runningProgram = (isExecutable = isSea()): readonly string[] =>
  isExecutable ? [process.execPath] : [process.execPath, ...process.execArgv, process.argv[1] ?? '']

/** As a later process is started. */
export const ownProgram = (
  { COXSWAIN_CHECKOUT: checkout }: Readonly<Record<string, string | undefined>>,
  isExecutable = isSea(),
): readonly string[] =>
  isExecutable || checkout === undefined ? runningProgram(isExecutable) : [`${checkout}/bin/coxswain`]
