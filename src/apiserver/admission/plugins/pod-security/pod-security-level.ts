// Levels of pod security and the labels of a namespace that select them.
import { lookup } from '../../../../base/collections/lookup.ts'
import { invalid, type FieldError } from '../../../../schema/validation/field-error.ts'

export const levels = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof levels)[number]
export const modes = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof modes)[number]

const serverMinor = 36

/** A level at a version of the standard. */
export interface Policy {
  readonly level: Level
  /** The minor version, or Infinity for the latest. */
  readonly minor: number
}

const prefix = 'pod-security.kubernetes.io/'
export const privilegedPolicy: Policy = { level: 'privileged', minor: Infinity }

export const policyText = ({ level, minor }: Policy): string =>
  `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`

/** The version in metrics: those that the server does not know share one label. */
export const versionLabel = ({ minor }: Policy): string =>
  minor === Infinity ? 'latest' : minor > serverMinor ? 'future' : `v1.${minor}`

const labelNames = Object.fromEntries(
  modes.map((mode) => [mode, { level: prefix + mode, version: `${prefix}${mode}-version` }]),
) as Record<Mode, { readonly level: string; readonly version: string }>

export type Labels = Readonly<Record<string, string>> | undefined

/** The policy that the labels select for a mode. An invalid level means `restricted`, an invalid version the latest. */
export function policyOf(labels: Labels, mode: Mode, fallback: Policy = privilegedPolicy): Policy {
  if (labels === undefined) return fallback
  const names = labelNames[mode]
  const level = lookup(labels, names.level)
  const version = lookup(labels, names.version)
  if (level === undefined && version === undefined) return fallback
  return {
    level: level === undefined ? fallback.level : isLevel(level) ? level : 'restricted',
    minor: version === undefined ? fallback.minor : (minorOf(version) ?? Infinity),
  }
}

export function labelErrors(labels: Labels): FieldError[] {
  return modes.flatMap((mode) => {
    const names = labelNames[mode]
    const level = lookup(labels, names.level)
    const version = lookup(labels, names.version)
    return [
      ...(level === undefined || isLevel(level)
        ? []
        : [invalid(`metadata.labels[${names.level}]`, level, 'must be one of privileged, baseline, restricted')]),
      ...(version === undefined || minorOf(version) !== undefined
        ? []
        : [invalid(`metadata.labels[${names.version}]`, version, 'must be "latest" or "v1.x"')]),
    ]
  })
}

const isLevel = (text: string): text is Level => (levels as readonly string[]).includes(text)

export function minorOf(version: string): number | undefined {
  if (version === 'latest') return Infinity
  const digits = /^v1\.(0|[1-9]\d*)$/.exec(version)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
