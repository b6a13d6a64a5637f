// Where the files of pods lie on a node.
import type { Pod } from '../../api/core/v1/pod.ts'

export interface NodePaths {
  /** Folders of pods, by uid. */
  readonly pods: string
  /** Logs of containers. */
  readonly logs: string
}

export const podFolder = ({ pods }: NodePaths, uid: string): string => `${pods}/${uid}`

/** As other kubelets name it, so that log collectors find it. */
export const logFolder = ({ logs }: NodePaths, { metadata }: Pick<Pod, 'metadata'>): string =>
  `${logs}/${metadata.namespace ?? ''}_${metadata.name}_${metadata.uid}`

export const volumesFolder = (paths: NodePaths, uid: string): string => `${podFolder(paths, uid)}/volumes`

/** Where the volumes of one type lie. */
export const volumeTypeFolder = (paths: NodePaths, uid: string, type: string): string =>
  `${volumesFolder(paths, uid)}/kubernetes.io~${type}`

export const volumeFolder = (paths: NodePaths, uid: string, type: string, name: string): string =>
  `${volumeTypeFolder(paths, uid, type)}/${name}`

export const subPathsFolder = (paths: NodePaths, uid: string): string => `${podFolder(paths, uid)}/volume-subpaths`

/** Where a container's mount of a part of a volume lies. */
export const subPathFolder = (
  paths: NodePaths,
  uid: string,
  volume: string,
  container: string,
  index: number,
): string => `${subPathsFolder(paths, uid)}/${volume}/${container}/${index}`

export const terminationFile = (paths: NodePaths, uid: string, container: string, attempt: number): string =>
  `${podFolder(paths, uid)}/containers/${container}/${attempt}`

export const hostsPath = (paths: NodePaths, uid: string): string => `${podFolder(paths, uid)}/etc-hosts`
