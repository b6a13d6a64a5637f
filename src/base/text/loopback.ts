// isLoopback: whether a client is on this machine, by the address of its connection.

export const isLoopback = (remoteAddress: string): boolean =>
  /^127(\.\d{1,3}){3}$|^::1$/.test(remoteAddress.replace(/^::ffff:/, ''))
