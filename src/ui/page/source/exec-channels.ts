// The frames of an exec over a WebSocket (`v5.channel.k8s.io`): the first byte is the channel.

export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

export function channelFrame(channel: number, text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text)
  const frame = new Uint8Array(bytes.length + 1)
  frame[0] = channel
  frame.set(bytes, 1)
  return frame
}

interface Status {
  readonly status?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

/** How a command ended, in words. `text` is the Status on the error channel. */
export function exitText(text: string): string {
  let status: Status
  try {
    status = JSON.parse(text) as Status
  } catch {
    return text
  }
  if (status.status === 'Success') return 'The command ended.'
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  return code === undefined ? (status.message ?? text) : `The command ended with exit code ${code}.`
}
