// Executables with the names of upstream's, each a shell script that runs a command of ours: for envtest, and other programs
// that start an API server and its etcd from a folder.
import { lookup } from '../../base/collections/lookup.ts'
import type { Files } from '../../platform/files.ts'

/** The command of each executable. kubectl is a program of its own. */
const commands: Readonly<Record<string, string>> = {
  etcd: 'etcd',
  'kube-apiserver': 'kube-apiserver',
  'kube-controller-manager': 'controller-manager',
  'kube-scheduler': 'scheduler',
}
export const toolNames = [...Object.keys(commands), 'kubectl'] as const

const mark = '# Written by coxswain tools link.'
/** As setup-envtest expects. */
const mode = 0o555

export interface LinkedTools {
  /** The executable of coxswain, with its arguments. */
  readonly program: readonly string[]
  /** The path of a kubectl; undefined if there is none. */
  readonly kubectl: string | undefined
}

/** Writes the executables, and returns their names. Rejects before the first if a file in the folder is not ours. */
export async function linkTools(
  folder: string,
  tools: LinkedTools,
  files: Pick<Files, 'makeDirectory' | 'read' | 'write'>,
): Promise<readonly string[]> {
  const names = toolNames.filter((name) => name !== 'kubectl' || tools.kubectl !== undefined)
  for (const name of names) {
    const found = await files.read(`${folder}/${name}`)
    if (found !== undefined && !new TextDecoder().decode(found).includes(mark))
      throw new Error(`${folder}/${name} was not written by coxswain tools link; it stays as it is`)
  }
  await files.makeDirectory(folder)
  for (const name of names) await files.write(`${folder}/${name}`, scriptOf(name, tools), mode)
  return names
}

function scriptOf(name: string, { program, kubectl = '' }: LinkedTools): string {
  const command = lookup(commands, name)
  const words = command === undefined ? [kubectl] : [...program, command]
  return `#!/bin/sh\n${mark}\nexec ${words.map(shellWord).join(' ')} "$@"\n`
}

const shellWord = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
