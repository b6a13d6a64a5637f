// Hosts in URLs and beside ports: an IPv6 address is in brackets.
import { isLoopback } from './remote-address.ts'

/** `host` is a name or an address. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** As Go's net.JoinHostPort. */
export const joinHostPort = (host: string, port: number | string): string => `${urlHost(host)}:${port}`

/** The host of a URL. Its hostname has the brackets. */
export const hostOfUrl = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Whether connections to the host stay on this machine. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopback(host)
