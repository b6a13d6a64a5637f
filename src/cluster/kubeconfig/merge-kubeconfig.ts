// Merges a cluster's entries into a kubeconfig, and removes them. Other entries, comments and unknown fields are kept.
// An entry is ours when it has our extension with the same data directory.
import { Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Kubeconfig } from '../../pki/kubeconfig.ts'
import { base64Text } from '../../pki/pem.ts'

export interface KubeconfigOwner {
  /** The name of the cluster and of its context. */
  readonly name: string
  readonly dataDirectory: string
  /** The authority of the cluster as PEM, if known. Files of older versions have no extension. */
  readonly authority?: string | undefined
}

export interface MergedKubeconfig {
  readonly text: string
  readonly contextName: string
  /** Whether it is kubectl's current context. */
  readonly isCurrent: boolean
  /** Whether the file had entries of this cluster before. */
  readonly wasPresent: boolean
}

const extensionName = 'coxswain'
const directoryField = 'data-directory'
const legacyUser = 'admin'
const sections = ['clusters', 'contexts', 'users'] as const
type Section = (typeof sections)[number]

export function mergeKubeconfig(text: string, owner: KubeconfigOwner, access: Kubeconfig): MergedKubeconfig {
  const file = new KubeconfigDocument(text)
  const ownCluster = file.find('clusters', isOwnCluster(owner))
  const clusterName = ownCluster === undefined ? file.freeName('clusters', owner.name) : nameOf(ownCluster)
  const ownUser = file.find('users', isOwnUser(owner, file, clusterName, ownCluster !== undefined))
  const userName = ownUser === undefined ? file.freeName('users', `${clusterName}-admin`) : nameOf(ownUser)
  const refersToUs = (entry: YAMLMap) =>
    entry.getIn(['context', 'cluster']) === clusterName && entry.getIn(['context', 'user']) === userName
  const ownContext = file.find('contexts', refersToUs)
  const contextName = ownContext === undefined ? file.freeName('contexts', clusterName) : nameOf(ownContext)

  const cluster = ownCluster ?? file.add('clusters', clusterName)
  file.set(cluster, 'cluster', {
    server: access.server,
    'certificate-authority-data': base64Text(access.authority),
    'certificate-authority': undefined,
  })
  const user = ownUser ?? file.add('users', userName)
  file.set(user, 'user', {
    'client-certificate-data': base64Text(access.identity.certificate),
    'client-key-data': base64Text(access.identity.key),
    'client-certificate': undefined,
    'client-key': undefined,
  })
  for (const [entry, field] of [
    [cluster, 'cluster'],
    [user, 'user'],
  ] as const)
    if (markOf(entry, field) !== owner.dataDirectory) file.mark(entry, field, owner)
  if (ownContext === undefined)
    file.set(file.add('contexts', contextName), 'context', { cluster: clusterName, user: userName })
  if (file.currentContext === '') file.currentContext = contextName
  return {
    text: file.text(),
    contextName,
    isCurrent: file.currentContext === contextName,
    wasPresent: ownCluster !== undefined,
  }
}

/** The kubeconfig without this cluster; undefined when it had no entries of it, '' when nothing else is left. */
export function removeFromKubeconfig(text: string, owner: KubeconfigOwner): string | undefined {
  const file = new KubeconfigDocument(text)
  const clusters = file.entries('clusters').filter(isOwnCluster(owner)).map(nameOf)
  if (clusters.length === 0) return undefined
  const users = file
    .entries('users')
    .filter((entry) => clusters.some((name) => isOwnUser(owner, file, name, true)(entry)))
    .map(nameOf)
  const contexts = file
    .entries('contexts')
    .filter((entry) => clusters.includes(String(entry.getIn(['context', 'cluster']))))
    .map(nameOf)
  file.remove('clusters', clusters)
  file.remove('contexts', contexts)
  file.remove('users', users)
  if (contexts.includes(file.currentContext)) file.currentContext = ''
  return sections.every((section) => file.entries(section).length === 0) ? '' : file.text()
}

/**
 * Without an extension the authority decides. A cluster that was restored elsewhere has the same authority and its own
 * extension.
 */
const isOwnCluster =
  (owner: KubeconfigOwner) =>
  (entry: YAMLMap): boolean =>
    markOf(entry, 'cluster') === owner.dataDirectory ||
    (markOf(entry, 'cluster') === undefined &&
      owner.authority !== undefined &&
      entry.getIn(['cluster', 'certificate-authority-data']) === base64Text(owner.authority))

/** The user of an older version has no extension; it is the one of the cluster's own context. */
const isOwnUser =
  (owner: KubeconfigOwner, file: KubeconfigDocument, clusterName: string, isClusterOwn: boolean) =>
  (entry: YAMLMap): boolean =>
    markOf(entry, 'user') === owner.dataDirectory ||
    (isClusterOwn &&
      nameOf(entry) === legacyUser &&
      file
        .entries('contexts')
        .filter((context) => context.getIn(['context', 'user']) === legacyUser)
        .every((context) => context.getIn(['context', 'cluster']) === clusterName))

/** The data directory in the entry's extension; undefined when the entry is not coxswain's. */
function markOf(entry: YAMLMap, field: 'cluster' | 'user'): unknown {
  const extensions = entry.getIn([field, 'extensions'])
  if (!isSeq(extensions)) return undefined
  const own = extensions.items.find((item) => isMap(item) && item.get('name') === extensionName)
  return isMap(own) ? own.getIn(['extension', directoryField]) : undefined
}

const nameOf = (entry: YAMLMap): string => String(entry.get('name'))

/** A kubeconfig document that keeps comments and order. */
class KubeconfigDocument {
  readonly #document: Document
  readonly #root: YAMLMap
  /** The layout of the file, as far as it can be kept. */
  readonly #layout: { readonly indentSeq: boolean; readonly flowCollectionPadding: boolean }

  constructor(text: string) {
    const parsed = parseDocument(text, { keepSourceTokens: false })
    const [mistake] = parsed.errors
    if (mistake !== undefined) throw new Error(`it is not valid YAML: ${mistake.message.split('\n')[0]}`)
    this.#document = parsed.contents === null ? new Document({ apiVersion: 'v1', kind: 'Config' }) : parsed
    if (!isMap(this.#document.contents)) throw new Error('it is not a kubeconfig: it holds no mapping')
    this.#root = this.#document.contents
    const kind = this.#root.get('kind')
    if (kind !== undefined && kind !== 'Config') throw new Error(`it is not a kubeconfig: its kind is ${String(kind)}`)
    for (const section of sections) this.#checkSection(section)
    const current = this.#root.get('current-context') ?? ''
    if (typeof current !== 'string') throw new Error('it is not a kubeconfig: current-context is not a string')
    this.#layout = {
      indentSeq: !/^(clusters|contexts|users):[^\S\n]*\n-/m.test(text),
      flowCollectionPadding: text.includes('{ '),
    }
  }

  #checkSection(section: Section): void {
    const list = this.#root.get(section) ?? undefined
    if (list === undefined) return
    if (!isSeq(list)) throw new Error(`it is not a kubeconfig: ${section} is not a list`)
    for (const [index, item] of list.items.entries())
      if (!isMap(item) || typeof item.get('name') !== 'string')
        throw new Error(`it is not a kubeconfig: ${section}[${index}] has no name`)
  }

  entries(section: Section): readonly YAMLMap[] {
    const list = this.#root.get(section)
    return isSeq(list) ? (list.items as YAMLMap[]) : []
  }

  find(section: Section, matches: (entry: YAMLMap) => boolean): YAMLMap | undefined {
    return this.entries(section).find(matches)
  }

  /** The name, or a variation if another entry has it. */
  freeName(section: Section, name: string): string {
    if (this.entries(section).some((entry) => nameOf(entry) === name))
      throw new Error(
        `its ${section} already have a ${JSON.stringify(name)} that belongs to something else; choose another name for this cluster with --name, or another file`,
      )
    return name
  }

  add(section: Section, name: string): YAMLMap {
    if (!isSeq(this.#root.get(section))) this.#root.set(section, this.#document.createNode([]))
    const list = this.#root.get(section) as YAMLSeq
    list.flow = false
    const entry = this.#document.createNode({ name }) as YAMLMap
    list.add(entry)
    return entry
  }

  /** Sets fields of an entry; undefined removes a field. */
  set(entry: YAMLMap, field: string, values: Readonly<Record<string, string | undefined>>): void {
    if (!isMap(entry.get(field))) entry.set(field, this.#document.createNode({}))
    const content = entry.get(field) as YAMLMap
    content.flow = false
    for (const [name, value] of Object.entries(values))
      if (value === undefined) content.delete(name)
      else if (content.get(name) !== value) content.set(name, value)
  }

  mark(entry: YAMLMap, field: 'cluster' | 'user', { dataDirectory }: KubeconfigOwner): void {
    const content = entry.get(field) as YAMLMap
    if (!isSeq(content.get('extensions'))) content.set('extensions', this.#document.createNode([]))
    const list = content.get('extensions') as YAMLSeq
    list.flow = false
    list.items = list.items.filter((item) => !(isMap(item) && item.get('name') === extensionName))
    list.add(this.#document.createNode({ name: extensionName, extension: { [directoryField]: dataDirectory } }))
  }

  remove(section: Section, names: readonly string[]): void {
    const list = this.#root.get(section)
    if (isSeq(list)) list.items = (list.items as YAMLMap[]).filter((entry) => !names.includes(nameOf(entry)))
  }

  get currentContext(): string {
    return String(this.#root.get('current-context') ?? '')
  }

  set currentContext(name: string) {
    const present = this.#root.get('current-context', true)
    if (isScalar(present)) present.value = name
    else this.#root.set('current-context', name)
  }

  text(): string {
    return this.#document.toString({ lineWidth: 0, ...this.#layout })
  }
}
