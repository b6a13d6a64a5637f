// SystemLogs: log files of the host and its services, served by the kubelet's /logs.

export type SystemLog =
  /** Names of directories end with a slash. */
  | { readonly kind: 'directory'; readonly names: readonly string[] }
  | { readonly kind: 'file'; readonly modifiedMs: number; content(): AsyncIterable<Uint8Array> }

export interface SystemLogs {
  /** Undefined when the path does not exist or leads out of the directory. */
  find(path: string): Promise<SystemLog | undefined>
}
