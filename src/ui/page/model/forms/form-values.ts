// What a user has typed into a form, and what becomes of it in an object. A number that is none stays a text.

export interface FormField {
  readonly name: string
  readonly label: string
  /** `lines` is a text of several lines; a `choice` has `choices`. */
  readonly input: 'text' | 'number' | 'lines' | 'choice'
  /** With what the form begins. */
  readonly start: string
  readonly isRequired: boolean
  readonly hint: string
  readonly choices: readonly string[]
  /** The fields of the object that it sets, as the server names them in errors. */
  readonly sets: readonly string[]
}

/** By the names of the fields. */
export type FormValues = ReadonlyMap<string, string>

export const valueOf = (values: FormValues, name: string): string => values.get(name)?.trim() ?? ''

export const isNumber = (text: string): boolean => /^-?\d{1,15}$/.test(text)

/** Undefined for an empty text. */
export function numberOf(values: FormValues, name: string): number | string | undefined {
  const text = valueOf(values, name)
  if (text === '') return undefined
  return isNumber(text) ? Number(text) : text
}

/** The pairs of lines of the form `name=value`; undefined if there are none. */
export function pairsOf(values: FormValues, name: string): Readonly<Record<string, string>> | undefined {
  const lines = (values.get(name) ?? '').split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return undefined
  return Object.fromEntries(
    lines.map((line): [string, string] => {
      const at = line.indexOf('=')
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1)]
    }),
  )
}

/** A shell that runs what was typed; undefined for what the image runs. */
export function commandOf(values: FormValues, name: string): readonly string[] | undefined {
  const text = (values.get(name) ?? '').trim()
  return text === '' ? undefined : ['/bin/sh', '-c', text]
}
