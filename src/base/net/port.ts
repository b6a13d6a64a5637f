// Port: a number that a TCP, UDP or SCTP port can have.
import type { Brand } from '../brand.ts'

export type Port = Brand<number, 'Port'>

const portMax = 65_535

/** undefined: not a port. 0 means any port to the kernel, so it is none. */
export const parsePort = (port: number): Port | undefined =>
  Number.isInteger(port) && port >= 1 && port <= portMax ? (port as Port) : undefined
