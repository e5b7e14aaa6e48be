// RabbitMQ with amqplib. A delayed message waits with a time to live in a queue without consumers, from which it goes to the
// queue that is consumed. It cannot be cancelled. A message whose time has passed leaves the first queue only when all before
// it have left, so the delays of one queue must be equal; those of puts are not, and none of these is delivered.
import { load } from '../packages.mjs'

const amqplib = load('amqplib')
const PREFETCH = 100

export async function connect(address, queue) {
  const connection = await amqplib.connect(address)
  const channel = await connection.createConfirmChannel()
  const consumer = await connection.createChannel()
  const later = `${queue}.later`
  await channel.assertQueue(queue, { durable: true })
  await channel.assertQueue(later, { durable: true, deadLetterExchange: '', deadLetterRoutingKey: queue })

  const publish = (body, delayS, confirmed) =>
    channel.sendToQueue(later, Buffer.from(body), { persistent: true, expiration: String(delayS * 1000) }, confirmed)

  return {
    put: (body, delayS) =>
      new Promise((resolve, reject) => publish(body, delayS, (error) => (error ? reject(error) : resolve()))),
    async putBatch(messages) {
      for (const { body, delayS } of messages) publish(body, delayS)
      await channel.waitForConfirms()
    },
    async consume({ delivered, acknowledged }) {
      await consumer.prefetch(PREFETCH)
      await consumer.consume(queue, (message) => {
        const body = message.content.toString()
        delivered(body)
        consumer.ack(message) // has no response
        acknowledged(body)
      })
    },
    async close() {
      await consumer.close()
      await channel.close()
      await connection.close()
    },
  }
}
