// Names and addresses of hosts that pods specify: they become parts of requests and of arguments.
import type { Brand } from '../../base/brand.ts'

/** A name or an address: it has no blanks and no characters that separate parts of a URL. */
export type HostText = Brand<string, 'HostText'>

const hostPattern = /^(?:[\w.][-.\w]*|[\dA-Fa-f:.]+(?:%[-.\w]+)?)$/

export const isHost = (text: string): text is HostText => hostPattern.test(text)
