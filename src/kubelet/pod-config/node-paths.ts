// Paths of pod files on a node.
import type { Pod } from '../../api/core/v1/pod/pod.ts'

export interface NodePaths {
  /** Directories of pods, by uid. */
  readonly pods: string
  /** Directory of container logs. */
  readonly logs: string
}

export const podDirectory = ({ pods }: NodePaths, uid: string): string => `${pods}/${uid}`

/** Named as upstream's, so that log collectors find it. */
export const logDirectory = ({ logs }: NodePaths, { metadata }: Pick<Pod, 'metadata'>): string =>
  `${logs}/${metadata.namespace ?? ''}_${metadata.name}_${metadata.uid}`

export const volumesDirectory = (paths: NodePaths, uid: string): string => `${podDirectory(paths, uid)}/volumes`

/** Directory of the volumes of one type. */
export const volumeTypeDirectory = (paths: NodePaths, uid: string, type: string): string =>
  `${volumesDirectory(paths, uid)}/kubernetes.io~${type}`

export const volumeDirectory = (paths: NodePaths, uid: string, type: string, name: string): string =>
  `${volumeTypeDirectory(paths, uid, type)}/${name}`

/** Directory of volumes that are used as devices. */
export const volumeDevicesDirectory = (paths: NodePaths, uid: string): string =>
  `${podDirectory(paths, uid)}/volumeDevices`

export const subPathsDirectory = (paths: NodePaths, uid: string): string =>
  `${podDirectory(paths, uid)}/volume-subpaths`

/** Mount point of a container's subPath. */
export const subPathDirectory = (
  paths: NodePaths,
  uid: string,
  volume: string,
  container: string,
  index: number,
): string => `${subPathsDirectory(paths, uid)}/${volume}/${container}/${index}`

export const terminationFile = (paths: NodePaths, uid: string, container: string, attempt: number): string =>
  `${podDirectory(paths, uid)}/containers/${container}/${attempt}`

export const hostsPath = (paths: NodePaths, uid: string): string => `${podDirectory(paths, uid)}/etc-hosts`

/** The directory that contains everything of the kubelet: `pods`, `plugins` and `plugins_registry`. */
export const kubeletDirectory = ({ pods }: NodePaths): string => pods.slice(0, pods.lastIndexOf('/'))
