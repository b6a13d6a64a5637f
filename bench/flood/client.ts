// A client with one connection, which is reopened when it breaks.
import { Agent, request } from 'node:https'
import type { Access } from '../../test/access.ts'

export interface Answer {
  readonly status: number
  readonly text: string
}

export class Client {
  readonly #agent: Agent
  readonly #access: Pick<Access, 'host' | 'port'>
  readonly #headers: Readonly<Record<string, string>>

  /** With the client certificate of the access, or with a token instead. */
  constructor({ host, port, ca, cert, key }: Access, token?: string) {
    this.#access = { host, port }
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, ca, ...(token === undefined ? { cert, key } : {}) })
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  send(method: string, path: string, body?: object): Promise<Answer> {
    const headers = { 'content-type': 'application/json', ...this.#headers }
    return new Promise((resolve, reject) => {
      const sent = request(
        { ...this.#access, agent: this.#agent, method, path, headers, timeout: 60_000 },
        (answer) => {
          const pieces: Buffer[] = []
          answer.on('data', (piece: Buffer) => pieces.push(piece))
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() }))
          answer.on('error', reject)
        },
      )
      sent.on('timeout', () => sent.destroy(new Error('no answer within a minute')))
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  /** Throws unless the object was created or already exists. */
  async make(path: string, object: object): Promise<string> {
    const { status, text } = await this.send('POST', path, object)
    if (status !== 201 && status !== 409) throw new Error(`POST ${path}: ${status} ${text}`)
    return text
  }

  close(): void {
    this.#agent.destroy()
  }
}
