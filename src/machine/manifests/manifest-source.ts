// ManifestSource: where a node finds pods that no API server has told it of: files in a folder, or an address.

export interface Manifest {
  /** Which file or address it is, for messages. */
  readonly name: string
  /** JSON or YAML. */
  readonly text: string
}

export interface ManifestSource {
  readonly kind: 'file' | 'http'
  /** All that is there now; rejects when it cannot be told. */
  list(signal: AbortSignal): Promise<readonly Manifest[]>
  /** Resolves when it may be worth looking again. */
  waitForChange(signal: AbortSignal): Promise<void>
}

/** How often a source is looked at that does not tell of its changes, or may have missed one. */
export const relistMs = 20_000
