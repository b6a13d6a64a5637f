// The executables of Kubernetes that a benchmark compares with: `--kubernetes` turns the comparison on. A folder may follow
// it; without one it is that of the conformance suite.
import { fileURLToPath } from 'node:url'
import { upstreamExecutable, upstreamFolder } from '../test/upstream-executables.ts'

const cache = fileURLToPath(new URL('../.cache/kubernetes', import.meta.url))

/** The folder to compare with, or undefined if nothing is to be compared. */
export function kubernetesFolder(args: readonly string[] = process.argv): string | undefined {
  const place = args.indexOf('--kubernetes')
  if (place === -1) return undefined
  const next = args[place + 1]
  return next === undefined || next.startsWith('-') ? upstreamFolder() : next
}

export function kubernetesExecutable(folder: string, name: string): string {
  const path = upstreamExecutable(folder, name, cache)
  if (path === undefined) throw new Error(`there is no ${name} in ${folder}`)
  return path
}
