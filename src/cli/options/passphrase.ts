// The passphrase of a snapshot, from a file or from the environment. It is never an argument, which other users could
// see.
import { readFile } from 'node:fs/promises'
import { UsageError } from '../command/command.ts'

const variable = 'COXSWAIN_PASSPHRASE'
const charactersMin = 8

export const passphraseOptions = {
  'passphrase-file': {
    type: 'string',
    value: '<file>',
    help: `a file whose first line is the passphrase of the snapshot (or set ${variable})`,
  },
} as const

/** Undefined when none is given. */
export async function passphraseOf(
  path: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (path === undefined && environment[variable] === undefined) return undefined
  return path === undefined
    ? firstLine(environment[variable] ?? '', variable)
    : passphraseFileOf(path, '--passphrase-file')
}

/** The passphrase in the file that a flag names. */
export const passphraseFileOf = async (path: string, flag: string): Promise<string> =>
  firstLine(await fileText(path, flag), `${flag} ${path}`)

function firstLine(text: string, source: string): string {
  const passphrase = text.split(/\r?\n/, 1)[0] ?? ''
  if (passphrase.length < charactersMin)
    throw new UsageError(`${source}: the passphrase must have at least ${charactersMin} characters`)
  return passphrase
}

const fileText = (path: string, flag: string): Promise<string> =>
  readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${flag} ${path} cannot be read: ${(cause as Error).message}`, { cause })
  })
