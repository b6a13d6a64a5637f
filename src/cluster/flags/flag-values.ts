// Parses flag values; errors name the flag.
import { durationMs } from '../../apiserver/config/config-reader.ts'
import type { Files } from '../../platform/files.ts'
import type { PolicyFlag, PolicyFlagValues } from './policy-flags.ts'
import { readText } from './webhook-connection.ts'

export async function readYaml(path: string, files: Files): Promise<unknown> {
  const { parse } = await import('yaml')
  return parse(await readText(path, files))
}

export function requiredFlag(flags: PolicyFlagValues, name: PolicyFlag, by: string): string {
  const value = flags[name]
  if (value === undefined) throw new Error(`${by} needs --${name}`)
  return value
}

export function choiceFlag<const T extends string>(
  flags: PolicyFlagValues,
  name: PolicyFlag,
  choices: readonly T[],
  fallback: T,
): T {
  const value = flags[name] ?? fallback
  const found = choices.find((each) => each === value)
  if (found === undefined) throw new Error(`--${name} ${JSON.stringify(value)} is none of ${choices.join(', ')}`)
  return found
}

export function durationFlag(flags: PolicyFlagValues, name: PolicyFlag, fallback: number): number {
  const text = flags[name]
  const ms = text === undefined ? fallback : durationMs(text)
  if (ms === undefined) throw new Error(`--${name} ${JSON.stringify(text)} is not a duration such as 2m`)
  return ms
}

export function countFlag(flags: PolicyFlagValues, name: PolicyFlag, fallback: number, least = 0): number {
  const text = flags[name]
  const found = text === undefined ? fallback : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(found) || found < least)
    throw new Error(`--${name} ${JSON.stringify(text)} is not an integer of at least ${least}`)
  return found
}
