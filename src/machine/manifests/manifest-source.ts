// ManifestSource: a source of static pod manifests: files of a directory, or a URL.

export interface Manifest {
  /** The file or URL, for messages. */
  readonly name: string
  /** JSON or YAML. */
  readonly text: string
}

export interface ManifestSource {
  readonly kind: 'file' | 'http'
  /** All current manifests; rejects when they cannot be read. */
  list(signal: AbortSignal): Promise<readonly Manifest[]>
  /** Resolves when the manifests may have changed. */
  waitForChange(signal: AbortSignal): Promise<void>
}

/** How often a source is read that does not report changes, or may have missed one. */
export const relistMs = 20_000
