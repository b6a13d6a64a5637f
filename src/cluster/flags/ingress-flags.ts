// Flags of the ingress controller, with their defaults.
import { isIp } from '../../base/net/ip-bytes.ts'
import { accessLogLevels, type AccessLogLevel } from '../../ingress/data-plane/access-log.ts'

export const ingressFlags = {
  ingress: {
    type: 'string',
    value: 'auto|on|off',
    help: 'serve Ingresses of the class coxswain (auto: if this machine runs containers)',
  },
  'ingress-address': {
    type: 'string',
    value: '<address>',
    help: 'the address on which Ingresses are served (127.0.0.1; 0.0.0.0 for all)',
  },
  'ingress-http-port': { type: 'string', value: '<port>', help: 'the port for HTTP (80; 0 for any)' },
  'ingress-https-port': { type: 'string', value: '<port>', help: 'the port for HTTPS (443; 0 for any)' },
  'ingress-access-log': {
    type: 'string',
    value: 'off|errors|all',
    help: 'which requests are logged (errors: those with a status of 500 and above)',
  },
} as const

export type IngressFlagValues = { readonly [name in keyof typeof ingressFlags]?: string | undefined }

const modes = ['auto', 'on', 'off'] as const

export interface IngressChoices {
  readonly mode: (typeof modes)[number]
  readonly host: string
  readonly httpPort: number
  readonly httpsPort: number
  readonly accessLog: AccessLogLevel
}

/** Throws an Error that names the flag. */
export function ingressChoicesOf(flags: IngressFlagValues): IngressChoices {
  const host = flags['ingress-address'] ?? '127.0.0.1'
  if (!isIp(host)) throw new Error(`--ingress-address ${JSON.stringify(host)} is not an IP address`)
  return {
    mode: choiceOf('--ingress', flags.ingress ?? 'auto', modes),
    host,
    httpPort: portOf('--ingress-http-port', flags['ingress-http-port'] ?? '80'),
    httpsPort: portOf('--ingress-https-port', flags['ingress-https-port'] ?? '443'),
    accessLog: choiceOf('--ingress-access-log', flags['ingress-access-log'] ?? 'errors', accessLogLevels),
  }
}

function choiceOf<Choice extends string>(flag: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw new Error(`${flag} ${JSON.stringify(text)} is none of ${choices.join(', ')}`)
  return found
}

function portOf(flag: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1
  if (port < 0 || port > 65_535) throw new Error(`${flag} ${JSON.stringify(text)} is not a port`)
  return port
}
