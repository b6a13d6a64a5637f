// The marker: a file in a data directory that records its owner and what was created outside of it. Without a marker
// nothing is ever removed.
import { existsSync } from 'node:fs'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { EtcdTlsPaths } from './open-store.ts'
import {
  clusterFiles,
  clusterDirectories,
  kubeletFiles,
  legacySign,
  markerName,
  outputName,
} from './directory-contents.ts'

export type DirectoryKind = 'cluster' | 'kubelet'

export interface Marker {
  readonly format: 1
  readonly kind: DirectoryKind
  /** Files with our names that existed before the first start. They are not ours. */
  readonly foreign: readonly string[]
  /** We created the directory itself. */
  readonly isFolderOurs?: boolean
  /** The name of the cluster in kubeconfigs. */
  readonly name?: string
  /** A start has created keys and opened a store. Before that, an incomplete pair of files is not an error. */
  readonly isComplete?: boolean
  /** A store was created in `store.db`. If the file is missing, it is lost. */
  readonly hasStore?: boolean
  /** The store of the last start, unless it was in memory. */
  readonly lastStore?: 'sqlite' | 'etcd'
  readonly etcd?: EtcdUse
  /** This machine is a server of a control plane of several machines. */
  readonly server?: ServerUse | undefined
  /** The objects were written to a store of SQLite, which is not yet that of the cluster. */
  readonly moving?: 'sqlite' | undefined
  /** Files outside of the directory that we added entries to. */
  readonly kubeconfigs?: readonly string[]
  /** Files outside of the directory that we created. */
  readonly files?: readonly string[]
  /** Nodes that earlier starts created. */
  readonly nodes?: readonly string[]
  /** The encryption configuration of the last start. */
  readonly encryptionConfig?: string | undefined
  /** Flags of a cluster that came from a server: those whose values must stay the same. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** The snapshot of an unfinished restore. */
  readonly restoring?: string | undefined
}

export interface EtcdUse {
  readonly endpoints: readonly string[]
  readonly tlsPaths: EtcdTlsPaths
  /** The store was empty at the first start, so all its objects belong to this cluster. */
  readonly wasEmpty: boolean
}

export interface ServerUse {
  /** The member of etcd on this machine. Without one the store is an etcd that is run by others. */
  readonly member?: MemberUse
  /** The address that others reach it at. */
  readonly host: string
  /** Flags whose values must be the same on all servers. */
  readonly settings: Readonly<Record<string, string>>
}

export interface MemberUse {
  readonly name: string
  readonly address: string
  /** The client URLs of all members that were known last. */
  readonly endpoints: readonly string[]
}

export const markerPath = (directory: string): string => `${directory}/${markerName}`

/** Undefined when there is none. */
export async function readMarker(directory: string): Promise<Marker | undefined> {
  const path = markerPath(directory)
  const content = await nodePlatform.files.read(path)
  if (content === undefined) return undefined
  const marker = parsed(new TextDecoder().decode(content))
  if (marker === undefined) throw new Error(`${path} is damaged: it is not a marker of coxswain`)
  if (marker.format !== 1)
    throw new Error(`${path} was written by a newer coxswain (format ${String(marker.format)}); use that one`)
  return marker
}

export const writeMarker = (directory: string, marker: Marker): Promise<void> =>
  nodePlatform.files.write(markerPath(directory), `${JSON.stringify(marker, undefined, 2)}\n`)

function parsed(text: string): Marker | undefined {
  try {
    const value = JSON.parse(text) as Partial<Marker> | null
    const isMarker = Array.isArray(value?.foreign) && (value.kind === 'cluster' || value.kind === 'kubelet')
    return isMarker ? (value as Marker) : undefined
  } catch {
    return undefined
  }
}

/** The marker of a directory that has none. A directory of an older version is ours with all its contents. */
export function newMarker(directory: string, kind: DirectoryKind): Marker {
  const has = (name: string) => existsSync(`${directory}/${name}`)
  if (isLegacy(directory, kind))
    return { format: 1, kind, foreign: [], ...(kind === 'cluster' ? { isComplete: true, hasStore: true } : {}) }
  const names = kind === 'cluster' ? [...clusterFiles, ...clusterDirectories] : [...kubeletFiles, 'node']
  return { format: 1, kind, foreign: names.filter((name) => name !== outputName && has(name)) }
}

/** Whether an older version, which wrote no marker, has used the directory. */
export const isLegacy = (directory: string, kind: DirectoryKind): boolean =>
  existsSync(`${directory}/${kind === 'cluster' ? legacySign : 'pki/kubelet-client-current.pem'}`)
