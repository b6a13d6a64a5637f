// The objects that a YAML text describes: each document with what decides where it is sent. Loaded when something is created.
import { isMap } from 'yaml'
import type { KnownKind } from './known-kinds.ts'
import { pairsOf, keyText, textAt, yamlDocuments, type YamlDocument } from './yaml-documents.ts'

export interface Manifest extends KnownKind {
  readonly name: string
  /** Empty if it has none. */
  readonly namespace: string
  readonly text: string
  /** Its number among the documents of the text, of which empty ones are none. */
  readonly document: number
  /** Why it cannot be sent. */
  readonly problem: string | undefined
  /** The kind that it defines, if it is the definition of one. */
  readonly defines: Pick<KnownKind, 'kind'> & { readonly group: string }
}

export function manifestsIn(text: string): readonly Manifest[] {
  return yamlDocuments(text).flatMap((document, at) =>
    document.root === null ? [] : manifestOf(document, at, document.root, text),
  )
}

function manifestOf(
  { apiVersion, kind, errors, range }: YamlDocument,
  at: number,
  root: unknown,
  text: string,
): Manifest {
  const metadata = valueOf(root, 'metadata')
  const spec = valueOf(root, 'spec')
  const name = textAt(metadata, 'name')
  return {
    apiVersion,
    kind,
    name,
    namespace: textAt(metadata, 'namespace'),
    // The server reads one document, which begins with the mark of the one before.
    text: text.slice(range.from, range.to).replace(/^---(?=\s)/, ''),
    document: at,
    problem: problemOf({ apiVersion, kind, name }, root, errors[0]?.message),
    defines: { group: textAt(spec, 'group'), kind: textAt(valueOf(spec, 'names'), 'kind') },
  }
}

const valueOf = (node: unknown, name: string): unknown => pairsOf(node).find(({ key }) => keyText(key) === name)?.value

function problemOf(
  { apiVersion, kind, name }: KnownKind & { readonly name: string },
  root: unknown,
  syntax: string | undefined,
): string | undefined {
  if (syntax !== undefined) return syntax
  if (!isMap(root)) return 'It is no object.'
  const missing = Object.entries({ apiVersion, kind, 'metadata.name': name }).filter(([, value]) => value === '')
  return missing.length === 0 ? undefined : `${missing.map(([field]) => field).join(', ')}: required`
}
