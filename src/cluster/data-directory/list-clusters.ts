// listClusters: the clusters of a user on this machine, running or not.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeconfigError } from '../../client/transport/kubeconfig-access.ts'
import { selectContext } from '../kubeconfig/kubeconfig-context.ts'
import { readMarker } from './directory-marker.ts'
import { directoryState } from './directory-state.ts'

export interface ListedCluster {
  readonly name: string
  readonly directory: string
  /** The process that runs it. */
  readonly pid: number | undefined
  /** Where the API is, or was when it ran last; undefined if it has never been ready. */
  readonly server: string | undefined
}

/** The one in `ownDirectory`, then those in the folder by name. */
export async function listClusters(ownDirectory: string, clustersFolder: string): Promise<ListedCluster[]> {
  const entries = await readdir(clustersFolder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const directories = names.toSorted().map((name) => join(clustersFolder, name))
  const found = await Promise.all([ownDirectory, ...directories].map(clusterIn))
  return found.filter((cluster) => cluster !== undefined)
}

/** Undefined if the directory has no cluster. */
async function clusterIn(directory: string): Promise<ListedCluster | undefined> {
  const marker = await readMarker(directory)
  if (marker?.kind !== 'cluster') return undefined
  const { pid, kubeconfig } = await directoryState(directory)
  const server = kubeconfig === undefined ? undefined : await serverIn(kubeconfig, directory)
  return { name: marker.name ?? 'coxswain', directory, pid, server }
}

/** Undefined if the kubeconfig is damaged, so that the other clusters are listed; what uses it reports the error. */
async function serverIn(text: string, directory: string): Promise<string | undefined> {
  try {
    return (await selectContext({ text, path: `${directory}/admin.kubeconfig`, directory })).server
  } catch (error) {
    if (error instanceof KubeconfigError) return undefined
    throw error
  }
}
