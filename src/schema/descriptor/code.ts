// Code: the body of a generated function. Source text is made of fragments only, and a fragment is made by the template tag
// `js` alone: the constant text of a template in this tree, numbers, other fragments, and strings as escaped literals. So no
// name or value of a schema can become anything but a string literal, whatever characters it has.

class SourceFragment {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  static textOf(fragment: SourceFragment): string {
    return fragment.#text
  }
}

/** A piece of source text. The class is not exported: `js` and Code make all fragments. */
export type Fragment = SourceFragment

/** Source text. Strings become string literals; numbers must be finite. */
export function js(
  template: TemplateStringsArray,
  ...values: readonly (Fragment | string | number | boolean)[]
): Fragment {
  let text = template[0] ?? ''
  for (const [index, value] of values.entries()) text += sourceOf(value) + (template[index + 1] ?? '')
  return new SourceFragment(text)
}

function sourceOf(value: Fragment | string | number | boolean): string {
  switch (typeof value) {
    case 'string':
      return stringLiteral(value)
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`${value} cannot be part of generated code`)
      return String(value)
    case 'boolean':
      return String(value)
    default:
      return SourceFragment.textOf(value)
  }
}

/** JSON escapes quotes, backslashes, control characters and lone surrogates; line separators are escaped in addition. */
const stringLiteral = (text: string): string =>
  JSON.stringify(text)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`)

export const joined = (fragments: readonly Fragment[], separator: ', ' | ' && ' | ' || '): Fragment =>
  new SourceFragment(fragments.map((fragment) => SourceFragment.textOf(fragment)).join(separator))

export class Code {
  readonly #lines: string[] = []
  readonly #constants: unknown[] = []
  #variables = 0

  line(fragment: Fragment): void {
    this.#lines.push(SourceFragment.textOf(fragment))
  }

  /** A name in the function for a value that cannot be written as text. */
  constant(value: unknown): Fragment {
    const known = this.#constants.indexOf(value)
    return new SourceFragment(`k${known >= 0 ? known : this.#constants.push(value) - 1}`)
  }

  /** A name that nothing else in the function has. */
  variable(): Fragment {
    return new SourceFragment(`v${this.#variables++}`)
  }

  /** The function with the given parameters. Their names must not be those of constants and variables. */
  compiled(parameters: readonly Fragment[]): unknown {
    const constants = this.#constants.map((_, index) => `k${index}`).join(', ')
    const names = SourceFragment.textOf(joined(parameters, ', '))
    // The parentheses make the engine compile the function at once instead of on its first call.
    const text = `'use strict'; const [${constants}] = constants; return ((${names}) => {\n${this.#lines.join('\n')}\n})`
    // oxlint-disable-next-line no-implied-eval -- the text consists of fragments, see above
    const build = new Function('constants', text) as (constants: readonly unknown[]) => unknown
    return build(this.#constants)
  }
}
