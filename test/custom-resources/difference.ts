// differenceOf: how a response differs from the recorded one, or undefined. The order of fields in an object has no meaning.
import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from './run-scenario.ts'
import { unordered } from './unordered.ts'

const shownCharsMax = 600

export function differenceOf(recorded: Exchange, got: Exchange | undefined): string | undefined {
  const { isUnordered = false, ...wanted } = recorded
  if (got === undefined) return 'there is no response'
  if (!isUnordered) return firstDifference(wanted, got, '')
  return isDeepStrictEqual(unordered(wanted), unordered(got)) ? undefined : firstDifference(wanted, got, '')
}

function firstDifference(wanted: unknown, got: unknown, path: string): string | undefined {
  if (!isContainer(wanted) || !isContainer(got) || Array.isArray(wanted) !== Array.isArray(got))
    return Object.is(wanted, got) ? undefined : `${path}\n  wanted ${shown(wanted)}\n  got    ${shown(got)}`
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(got)])) {
    const difference = firstDifference(wanted[key], got[key], path === '' ? key : `${path}.${key}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

type Container = Readonly<Record<string, unknown>>
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, shownCharsMax)
