// Folders of this checkout that a person's PATH lacks: that of coxswain and its kubectl plugins, and that of a kubectl which
// the set-up has fetched.
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Set by bin/coxswain: where the checkout is. */
const checkoutVariable = 'COXSWAIN_CHECKOUT'

export function missingFolders(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const checkout = environment[checkoutVariable]
  if (checkout === undefined) return []
  const path = (environment['PATH'] ?? '').split(delimiter)
  const isFound = (program: string) => path.some((folder) => existsSync(join(folder, program)))
  return [
    ...(isFound('coxswain') ? [] : [join(checkout, 'bin')]),
    ...(isFound('kubectl') ? [] : newestKubectl(join(checkout, '.cache', 'kubectl'))),
  ]
}

/** Below the folder there is one for each version. */
function newestKubectl(folder: string): string[] {
  const versions = existsSync(folder) ? readdirSync(folder) : []
  const newest = versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  return newest === undefined ? [] : [join(folder, newest)]
}
