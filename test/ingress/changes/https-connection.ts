// HttpsConnection: one request at a time over HTTP/1.1 and TLS, for a client that sends thousands of requests a second beside
// the servers on the same processors. An outcome is the status of a response, or where the exchange failed and why.
import { connect, type SecureContext, type TLSSocket } from 'node:tls'

export interface HttpsConnectionOptions {
  readonly host: string
  readonly port: number
  readonly serverName: string
  readonly secureContext: SecureContext
  readonly onCertificate: (serialNumber: string) => void
}

type Phase = 'connect' | 'handshake' | 'request' | 'response'

export class HttpsConnection {
  readonly #socket: TLSSocket
  readonly #request: Buffer
  #phase: Phase = 'connect'
  #received = ''
  #onOutcome: ((outcome: string) => void) | undefined
  #isOpen = true

  constructor({ host, port, serverName, secureContext, onCertificate }: HttpsConnectionOptions) {
    this.#request = Buffer.from(`GET / HTTP/1.1\r\nhost: ${serverName}\r\n\r\n`)
    this.#socket = connect({ host, port, servername: serverName, secureContext, ALPNProtocols: ['http/1.1'] })
    this.#socket.setNoDelay(true)
    this.#socket.on('connect', () => (this.#phase = 'handshake'))
    this.#socket.on('secureConnect', () => {
      onCertificate(this.#socket.getPeerX509Certificate()?.serialNumber ?? '')
      this.#phase = 'request'
    })
    this.#socket.on('data', (bytes: Buffer) => this.#receive(bytes.toString('latin1')))
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#close(error.code ?? error.message))
    this.#socket.on('close', () => this.#close('closed by the server'))
  }

  /** A connection without a request may be used for the next one. */
  get isIdle(): boolean {
    return this.#isOpen && this.#onOutcome === undefined
  }

  send(onOutcome: (outcome: string) => void): void {
    this.#onOutcome = onOutcome
    if (this.#phase === 'response') this.#phase = 'request'
    this.#socket.write(this.#request)
  }

  end(): void {
    this.#isOpen = false
    this.#socket.end()
  }

  #receive(text: string): void {
    this.#phase = 'response'
    this.#received += text
    const head = /^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/.exec(this.#received)
    if (head === null) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head[0])?.[1] ?? NaN)
    const missing = head[0].length + length - this.#received.length
    if (missing > 0) return
    if (missing < 0 || Number.isNaN(length)) return this.#close('malformed response')
    if (/\r\nconnection: close\r\n/i.test(head[0])) this.#isOpen = false
    this.#received = ''
    this.#finish(head[1] ?? '')
  }

  #finish(outcome: string): void {
    const callback = this.#onOutcome
    this.#onOutcome = undefined
    callback?.(outcome)
  }

  #close(why: string): void {
    this.#isOpen = false
    this.#finish(`${this.#phase}: ${why}`)
    this.#socket.destroy()
  }
}
