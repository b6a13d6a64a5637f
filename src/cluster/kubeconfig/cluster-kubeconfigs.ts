// ClusterKubeconfigs: the kubeconfigs that a cluster writes: the administrator's in its data directory and in the file that
// the user named, and those of components that run in their own processes.
import type { Files } from '../../platform/files.ts'
import type { Clock } from '../../base/time/clock.ts'
import { kubeconfigText } from '../../pki/kubeconfig.ts'
import type { ClusterCertificates } from '../certificates/cluster-certificates.ts'
import { checkKubeconfig, writeKubeconfig, type WrittenKubeconfig } from './write-kubeconfig.ts'

export interface ClusterKubeconfigsOptions {
  readonly dataDirectory: string
  /** The name of the cluster. */
  readonly name: string
  /** The file that the user named. */
  readonly kubeconfigPath: string
}

const { signal: never } = new AbortController()

export class ClusterKubeconfigs {
  readonly #options: ClusterKubeconfigsOptions
  readonly #files: Files
  readonly #clock: Clock

  constructor(options: ClusterKubeconfigsOptions, files: Files, clock: Clock) {
    this.#options = options
    this.#files = files
    this.#clock = clock
  }

  /** Files outside of the data directory. */
  get outside(): readonly string[] {
    return this.#paths.filter((path) => path !== this.#ownPath)
  }

  /** Throws when a file cannot take the cluster's entries; nothing is written. */
  async check(): Promise<void> {
    const { name, dataDirectory } = this.#options
    const present = await this.#files.read(`${dataDirectory}/pki/ca.crt`)
    const owner = { name, dataDirectory, authority: present && new TextDecoder().decode(present) }
    for (const path of this.#paths) await checkKubeconfig(path, owner)
  }

  /** Returns the result for the file that the user named. */
  async write(server: string, certificates: ClusterCertificates): Promise<WrittenKubeconfig> {
    const { name, dataDirectory, kubeconfigPath } = this.#options
    const { authority, admin } = certificates
    const owner = { name, dataDirectory, authority }
    const access = { server, authority, identity: admin }
    const written = await Promise.all(
      this.#paths.map((path) => writeKubeconfig(path, owner, access, this.#clock, never)),
    )
    for (const [component, content] of componentKubeconfigs(server, certificates))
      await this.#writeIfChanged(`${dataDirectory}/${component}.kubeconfig`, content)
    return written[this.#paths.indexOf(kubeconfigPath)] as WrittenKubeconfig
  }

  get #ownPath(): string {
    return `${this.#options.dataDirectory}/admin.kubeconfig`
  }

  get #paths(): readonly string[] {
    return [...new Set([this.#ownPath, this.#options.kubeconfigPath])]
  }

  async #writeIfChanged(path: string, content: string): Promise<void> {
    const present = await this.#files.read(path)
    if (present === undefined || new TextDecoder().decode(present) !== content) await this.#files.write(path, content)
  }
}

/** Kubeconfigs for components in their own processes. */
const componentKubeconfigs = (server: string, { authority, components }: ClusterCertificates) =>
  (['controller-manager', 'scheduler'] as const).map(
    (name) =>
      [
        name,
        kubeconfigText({ server, authority, identity: components[name] }, { user: `system:kube-${name}` }),
      ] as const,
  )
