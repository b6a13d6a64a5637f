// SystemLogs: the files that a host itself and its services log into, for whoever may read them over the kubelet's port.

export type SystemLog =
  /** Names of folders end with a slash. */
  | { readonly kind: 'folder'; readonly names: readonly string[] }
  | { readonly kind: 'file'; readonly modifiedMs: number; content(): AsyncIterable<Uint8Array> }

export interface SystemLogs {
  /** Undefined when nothing is there, or what is there leads elsewhere. */
  find(path: string): Promise<SystemLog | undefined>
}
