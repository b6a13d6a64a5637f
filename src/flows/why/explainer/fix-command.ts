// Commands that fix a problem, as text for a shell. Every word is quoted where a shell would interpret it, because names and
// values come from objects. Words in capitals stand for values that only the reader knows.

/** Words that shells take literally. */
const plainWord = /^[\w@%+=:,./-]+$/

export const shellWord = (text: string): string =>
  plainWord.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

export const commandText = (words: readonly string[]): string => words.map(shellWord).join(' ')

/** `kubectl <words> -n <namespace>`; without a namespace for cluster-scoped objects. */
export const kubectl = (namespace: string, ...words: readonly string[]): string =>
  commandText(['kubectl', ...words, ...(namespace === '' ? [] : ['-n', namespace])])

interface JsonPatchStep {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}

export const jsonPatch = (target: string, namespace: string, ...steps: readonly JsonPatchStep[]): string =>
  kubectl(namespace, 'patch', target, '--type=json', '-p', JSON.stringify(steps))

export const mergePatch = (target: string, namespace: string, patch: object, ...flags: readonly string[]): string =>
  kubectl(namespace, 'patch', target, '--type=merge', ...flags, '-p', JSON.stringify(patch))

/** For fields that cannot be changed: the object is read, changed by sed, deleted and created again. */
export function recreateWith(target: string, namespace: string, from: string, to: string): string {
  const get = kubectl(namespace, 'get', target, '-o', 'yaml')
  return `${get} | ${commandText(['sed', `s/${escaped(from)}/${escaped(to)}/`])} | kubectl replace --force -f -`
}

/** A text as the pattern or replacement of sed. */
const escaped = (text: string): string => text.replaceAll(/[\\/&.*[\]^$]/g, String.raw`\$&`)
