// DirectoryQuotas: limits the size of directories by project ids of their file system. Drivers: the programs of the host
// and a simulated disk.

export interface DirectoryQuotas {
  /** Whether directories below this path can be limited. */
  supports(path: string, signal: AbortSignal): Promise<boolean>
  /**
   * Limits the bytes of everything below a directory, also of one that is already limited. The project id must not be
   * used for another directory of the file system.
   */
  limit(directory: string, projectId: number, bytesMax: number, signal: AbortSignal): Promise<void>
}
