// Expansion of `$(NAME)` in commands, arguments, values and paths; `$$` is a dollar sign. Unknown references are left as
// they are. Values that refer to values grow exponentially, so what an expansion may add is bounded.
import { ConfigError } from './config-error.ts'

/** As in Linux: a program cannot be started with a longer variable or argument. */
export const wordCharsMax = 128 * 1024
/** As in Linux: a program cannot be started with more variables and arguments. */
export const programCharsMax = 6 * 1024 * 1024
/** As in Linux. */
export const pathCharsMax = 4096

/** `what` is expanded, and is named in errors. Throws ConfigError when the result is longer than `charsMax`. */
export function expandVariables(
  text: string,
  valueOf: (name: string) => string | undefined,
  what: string,
  charsMax: number = wordCharsMax,
): string {
  if (!text.includes('$')) return text
  let chars = text.length
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (found, name: string | undefined) => {
    if (name === undefined) return '$'
    const value = valueOf(name)
    if (value === undefined) return found
    chars += value.length - found.length
    if (chars > charsMax) throw new ConfigError(`${what} is longer than ${charsMax} characters when it is expanded`)
    return value
  })
}

/** Counts the characters of a container's variables, or of its command and arguments. */
export class ProgramSize {
  #chars = 0

  /** Throws ConfigError, which names what exceeds the limit. */
  add(chars: number, what: string): void {
    this.#chars += chars
    if (this.#chars > programCharsMax)
      throw new ConfigError(`${what} exceeds the limit of ${programCharsMax} characters of a container`)
  }
}
