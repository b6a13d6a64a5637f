// PluginSockets: the sockets of plugins that register with the kubelet. A plugin creates a socket in the directory and
// removes it when it ends. Drivers: a directory of the host, and a simulated one.

export interface PluginSocket {
  readonly path: string
  /** Differs when the socket was created again. */
  readonly identity: string
}

export interface PluginSockets {
  /** At most `pluginSocketsMax` sockets, ordered by path. */
  list(signal: AbortSignal): Promise<readonly PluginSocket[]>
  /** Resolves when the sockets may have changed. */
  waitForChange(signal: AbortSignal): Promise<void>
}

export const pluginSocketsMax = 256
/** How often the directory is read, because the notification of a change may be lost. */
export const relistMs = 20_000
