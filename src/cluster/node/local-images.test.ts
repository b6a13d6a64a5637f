import { rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { listImages, loadImages } from './local-images.ts'

const { signal } = new AbortController()

test('the message explains how to start containerd when it does not run', async () => {
  const node = { dataDirectory: '/nowhere' }
  const message =
    /^Error: no containerd runs at \/nowhere\/node\/containerd\/containerd\.sock for the cluster; start it/
  await rejects(
    loadImages(node, ['a.tar'], () => {}, signal),
    message,
  )
  await rejects(listImages({ socketPath: '/nowhere.sock' }, signal), /^Error: no containerd runs at \/nowhere\.sock$/)
})

test('a socket that is not containerd’s is reported as not responding', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-images-'))
  const socketPath = join(directory, 's.sock')
  const server = createServer((socket) => socket.destroy()).listen(socketPath)
  await once(server, 'listening')
  await rejects(listImages({ socketPath }, signal), /^Error: containerd does not answer at .*s\.sock/)
  server.close()
  await rm(directory, { recursive: true })
})
