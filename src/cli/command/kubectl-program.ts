// The kubectl of this machine: one that the setup of a checkout has fetched, which has the implemented version, or one
// of the PATH.
import { existsSync, globSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** The directory of the newest kubectl that the setup of this checkout has fetched. */
export function fetchedKubectl(checkout: string): string | undefined {
  const found = globSync(join(checkout, '.cache', 'kubectl', '*', 'kubectl')).map((path) => dirname(path))
  return found.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
}

/** Its path; undefined if there is none. One in the folder `except` does not count. */
export function kubectlProgram(
  { PATH = '', COXSWAIN_CHECKOUT: checkout }: Environment,
  except?: string,
): string | undefined {
  const fetched = checkout === undefined ? undefined : fetchedKubectl(checkout)
  const onPath = PATH.split(delimiter).filter((directory) => directory !== '' && resolve(directory) !== except)
  return [...(fetched === undefined ? [] : [fetched]), ...onPath]
    .map((directory) => join(directory, 'kubectl'))
    .find((path) => existsSync(path))
}
