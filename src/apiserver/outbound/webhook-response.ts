// Parses the HTTP response of a webhook; errors have upstream's messages.
import { parseJson } from '../../schema/json/exact-json.ts'

const detailCharactersMax = 2_048

const statusMessages: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  415: 'the media type of the request is not supported by the server',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

export interface WebhookResponse {
  readonly status: number
  readonly text: string
  readonly contentType: string
}

/** As in upstream, a successful response is parsed as JSON whatever its content type: Go's servers often send text/plain. */
export function parseWebhookResponse({ status, text, contentType }: WebhookResponse): unknown {
  const [mediaType = ''] = contentType.split(';')
  const type = mediaType.trim().toLowerCase()
  if (status < 200 || status > 206) {
    const detail = type.startsWith('text/') ? text.slice(0, detailCharactersMax).trim() : 'unknown'
    throw new Error(statusMessages[status] ?? otherStatusMessage(status, detail))
  }
  try {
    return parseJson(text)
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error })
  }
}

const otherStatusMessage = (status: number, detail: string): string =>
  status >= 500
    ? `an error on the server (${JSON.stringify(detail)}) has prevented the request from succeeding`
    : status === 403
      ? detail
      : `the server responded with the status code ${status} but did not return more information`
