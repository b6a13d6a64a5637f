// Named formats: validation of texts.
import { global, member, type Functions } from '../../environment/function.ts'
import { listOf, opaque, optionalOf, stringType } from '../../types/cel-type.ts'
import { none, Opaque, Optional } from '../../values/value.ts'

export const formatType = opaque('kubernetes.NamedFormat')

/** Returns the errors of a text; none when it has the format. */
export type FormatRule = (text: string) => readonly string[]

export class Format extends Opaque {
  readonly type = formatType
  readonly name: string
  readonly rule: FormatRule

  constructor(name: string, rule: FormatRule) {
    super()
    this.name = name
    this.rule = rule
  }

  equals(other: Opaque): boolean {
    return other instanceof Format && other.name === this.name
  }
}

/** The rules are part of the API, so the creator of an environment passes them. */
export function formatFunctions(rules: Readonly<Record<string, FormatRule>>): Functions {
  const all = new Map(Object.entries(rules).map(([name, rule]) => [name, new Format(name, rule)]))
  return {
    ...Object.fromEntries(
      [...all].map(([name, format]) => [`format.${name}`, [global(`format-${name}`, [], formatType, () => format)]]),
    ),
    'format.named': [
      global('format-named', [stringType], optionalOf(formatType), (name: string) => {
        const found = all.get(name)
        return found === undefined ? none : new Optional(found)
      }),
    ],
    validate: [
      member(
        'format-validate',
        [formatType, stringType],
        optionalOf(listOf(stringType)),
        ({ rule }: Format, text: string) => {
          const wrong = rule(text)
          return wrong.length === 0 ? none : new Optional([...wrong])
        },
      ),
    ],
  }
}
