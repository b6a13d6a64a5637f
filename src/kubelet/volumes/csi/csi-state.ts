// CsiState: which volumes of storage drivers are staged and published on this node. A record exists before the driver is
// called and until the volume is released, so it may describe a volume for which the call failed: CSI calls are
// idempotent, and a volume that is not certainly mounted is mounted or released again.
import type { CsiPaths } from './csi-paths.ts'
import { uniqueName, type CsiVolume } from './csi-volume.ts'

type Identity = Pick<CsiVolume, 'driver' | 'handle' | 'specName' | 'isBlock'>

export interface Staged extends Identity, Pick<CsiPaths, 'staging' | 'stagingData'> {
  /** The driver has confirmed it since the kubelet started. */
  readonly isCertain: boolean
  /** Undefined when an earlier kubelet has staged it. */
  readonly needsAttachment: boolean | undefined
}

export interface Publication extends Identity, Pick<CsiPaths, 'target' | 'targetData'> {
  readonly podUid: string
  /** The name of the volume in the pod; undefined until this kubelet has mounted it. */
  readonly volumeName: string | undefined
  readonly isCertain: boolean
}

interface Users {
  readonly pods: Set<string>
  readonly needsAttachment: boolean
}

const keyOf = (podUid: string, specName: string): string => `${podUid} ${specName}`

export class CsiState {
  readonly #staged = new Map<string, Staged>()
  readonly #publications = new Map<string, Publication>()
  /** Pods that need a volume, by volume. */
  readonly #users = new Map<string, Users>()
  readonly #listeners = new Set<() => void>()
  #isKnown = false
  /**
   * The volumes in use when the listeners were called last. Undefined at first: an earlier kubelet may have reported
   * volumes that it then released, so also an empty list is reported.
   */
  #notified: string | undefined

  /** Calls the listener when the volumes in use have changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** The volumes of earlier kubelets were found. */
  reconstructed(staged: readonly Staged[], publications: readonly Publication[]): void {
    for (const one of staged) this.#staged.set(uniqueName(one), one)
    for (const one of publications) this.#publications.set(keyOf(one.podUid, one.specName), one)
    this.#isKnown = true
    this.#changed()
  }

  /** Volumes that must not be detached from the node; undefined until those of earlier kubelets are known. */
  get volumesInUse(): readonly string[] | undefined {
    if (!this.#isKnown) return undefined
    const staged = [...this.#staged].filter(([, { needsAttachment }]) => needsAttachment !== false)
    const users = [...this.#users].filter(([, { needsAttachment }]) => needsAttachment)
    return [...new Set([...staged, ...users].map(([name]) => name))].toSorted()
  }

  get staged(): readonly Staged[] {
    return [...this.#staged.values()]
  }

  findStaged(name: string): Staged | undefined {
    return this.#staged.get(name)
  }

  setStaged(staged: Staged): void {
    this.#staged.set(uniqueName(staged), staged)
    this.#changed()
  }

  deleteStaged(name: string): void {
    this.#staged.delete(name)
    this.#changed()
  }

  findPublication(podUid: string, specName: string): Publication | undefined {
    return this.#publications.get(keyOf(podUid, specName))
  }

  /** Pods for which the driver has, or may have, published a volume. */
  podsOf(driver: string): readonly string[] {
    const own = [...this.#publications.values()].filter((one) => one.driver === driver)
    return [...new Set(own.map(({ podUid }) => podUid))]
  }

  setPublication(publication: Publication): void {
    this.#publications.set(keyOf(publication.podUid, publication.specName), publication)
  }

  deletePublication({ podUid, specName }: Publication): void {
    this.#publications.delete(keyOf(podUid, specName))
  }

  publicationsOfPod(podUid: string): readonly Publication[] {
    return [...this.#publications.values()].filter((one) => one.podUid === podUid)
  }

  publicationsOfVolume(name: string): readonly Publication[] {
    return [...this.#publications.values()].filter((one) => uniqueName(one) === name)
  }

  /** The pod needs the volume, until `removeUser`. */
  addUser(name: string, podUid: string, needsAttachment: boolean): void {
    const pods = this.#users.get(name)?.pods ?? new Set()
    this.#users.set(name, { pods: pods.add(podUid), needsAttachment })
    this.#changed()
  }

  /** Returns the volumes that the pod needed. */
  removeUser(podUid: string): readonly string[] {
    const names = [...this.#users].filter(([, { pods }]) => pods.delete(podUid)).map(([name]) => name)
    for (const name of names) if (this.userCount(name) === 0) this.#users.delete(name)
    if (names.length > 0) this.#changed()
    return names
  }

  userCount(name: string): number {
    return this.#users.get(name)?.pods.size ?? 0
  }

  #changed(): void {
    const names = this.volumesInUse?.join('\n')
    if (names === this.#notified) return
    this.#notified = names
    for (const listener of this.#listeners) listener()
  }
}
