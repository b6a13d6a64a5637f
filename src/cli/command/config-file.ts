// Flags from a file: YAML with the names of flags as keys. Flags of the command line have precedence.
import { readFile, stat } from 'node:fs/promises'
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { errorText } from '../../base/observability/log.ts'
import { didYouMean, similarNames } from '../../base/text/similar-names.ts'
import { UsageError, type Command, type CommandOption, type FlagValues } from './command.ts'

/** Read by the commands that run a machine, if they are run by root and no file is named. */
export const machineConfigPath = '/etc/coxswain/config.yaml'

const fileBytesMax = 1 << 20
const writableByOthers = 0o022

export const configFileOption = {
  config: { type: 'string', value: '<file>', help: 'a YAML file with flags: their names, without dashes, and values' },
} as const satisfies Record<string, CommandOption>

export const machineConfigOption = {
  config: { ...configFileOption.config, help: `${configFileOption.config.help} (${machineConfigPath}, for root)` },
} as const satisfies Record<string, CommandOption>

export interface ConfigFileDeps {
  /** Of the user who runs the command; undefined where there are none. */
  readonly userId: number | undefined
  readonly machinePath: string
}

export const thisProcess: ConfigFileDeps = { userId: process.getuid?.(), machinePath: machineConfigPath }

/** The flags of the file that `--config` names, or of the one of the machine. */
export async function configFileFlags(
  { name, options, configFile }: Pick<Command, 'name' | 'options' | 'configFile'>,
  named: string | undefined,
  { userId, machinePath }: ConfigFileDeps,
): Promise<FlagValues> {
  const isOfMachine = named === undefined && configFile === 'machine' && userId === 0
  const path = isOfMachine ? machinePath : named
  if (path === undefined) return {}
  try {
    const text = await readFlags(path, isOfMachine)
    return text === undefined ? {} : await parseFlags(text, name, options)
  } catch (error) {
    throw new UsageError(`${path}: ${errorText(error)}`, { cause: error })
  }
}

/** Undefined if there is no file of the machine. Only root may write to that. */
async function readFlags(path: string, isOfMachine: boolean): Promise<string | undefined> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (isOfMachine && error.code === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return undefined
  if (found.size > fileBytesMax) throw new Error(`it has more than ${fileBytesMax} bytes`)
  if (isOfMachine && (found.uid !== 0 || (found.mode & writableByOthers) !== 0))
    throw new Error('others than root may write to it; run: chown root, chmod 600')
  return readFile(path, 'utf8')
}

async function parseFlags(text: string, name: string, options: Command['options']): Promise<FlagValues> {
  const { parse } = await import('yaml')
  // All scalars are texts, as on a command line.
  const content = parse(text, { schema: 'failsafe' }) as unknown
  const flags: Record<string, FlagValues[string]> = {}
  if (content === null || content === '') return flags
  if (typeof content !== 'object' || Array.isArray(content)) throw new Error('it is no map of flags')
  for (const [key, value] of Object.entries(content)) {
    const option = key === 'config' ? undefined : lookup(options, key)
    if (option === undefined) {
      const names = Object.keys(options).filter((known) => known !== 'config')
      const question = didYouMean(similarNames(key, names))
      throw new Error(`unknown key ${JSON.stringify(key)}; ${question || `see: coxswain ${name} --help-all`}`)
    }
    const read = valueOf(key, value, option)
    if (read !== undefined) setOwn(flags, key, read)
  }
  return flags
}

function valueOf(key: string, value: unknown, { type, value: form, isRepeatable = false }: CommandOption) {
  const isList = isRepeatable || form === '<list>'
  if (isList && Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  if (typeof value !== 'string' || value === '')
    throw new Error(`${JSON.stringify(key)} must have ${isList ? 'a value or a list of values' : 'one value'}`)
  if (type === 'string') return value
  if (value !== 'true' && value !== 'false') throw new Error(`${JSON.stringify(key)} must be true or false`)
  return value === 'true' ? true : undefined
}
