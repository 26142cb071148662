"""Random commands: most are right, many are wrong in some way, few keys so that they meet.

A command whose reply is a matter of chance or of the clock is left out; one whose order is
arbitrary is named in `UNORDERED`.
"""

import random
from typing import Any

KEYS = [b"a", b"b", b"c", b"d", b"e"]
WORDS = [b"x", b"y", b"zz", b"", b"10", b"-3", b"2.5", b"3e2", b"hello", b"\x00\xff", b"0"]
NUMBERS = [b"0", b"1", b"2", b"-1", b"-2", b"5", b"-100", b"100", b"9223372036854775807", b"1.5"]
SCORES = [b"0", b"1", b"2.5", b"-1", b"inf", b"-inf", b"3", b"0.1", b"nan", b"x"]
BOUNDS = [b"-inf", b"+inf", b"(1", b"1", b"2.5", b"(2.5", b"0", b"x"]
LEX = [b"-", b"+", b"[x", b"(x", b"[hello", b"(a", b"x"]
FLAGS = [b"NX", b"XX", b"GT", b"LT", b"CH", b"INCR", b"GET", b"KEEPTTL", b"nonsense"]
PATTERNS = [b"*", b"a*", b"[a-c]", b"?", b"[^a]", b"h?llo", b"*l*", b"\\a", b"[z-a]", b"["]
UNORDERED = {
    b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"KEYS", b"SCAN", b"SSCAN",
}  # fmt: skip

# k key, w word, n number, s score, b bound, l lex, f flag, p pattern; ? before one: perhaps;
# + before one: one to three times; words in capitals stand for themselves.
SHAPES = """
GET k|SET k w|SET k w ?f ?f|SET k w EX n|SET k w ?GET ?KEEPTTL|SETNX k w|GETSET k w|GETDEL k
GETEX k ?PERSIST|MGET +k|MSET k w k w|MSET k w k|MSETNX k w k w|APPEND k w|STRLEN k|INCR k|DECR k
INCRBY k n|DECRBY k n|INCRBYFLOAT k w|INCRBYFLOAT k s|GETRANGE k n n|SUBSTR k n n|SETRANGE k n w
DEL +k|UNLINK +k|EXISTS +k|TYPE k|TOUCH +k|RENAME k k|RENAMENX k k|COPY k k ?REPLACE|DBSIZE|KEYS p
PERSIST k|EXPIRE k 1000 ?f|TTL k|PTTL missing|EXPIRE k n|PEXPIRE k w|MOVE k n|SELECT n|ECHO w
PING ?w|HSET k w w|HSET k w w w w|HSET k w|HMSET k w w|HSETNX k w w|HGET k w|HMGET k +w|HGETALL k
HKEYS k|HVALS k|HLEN k|HEXISTS k w|HSTRLEN k w|HDEL k +w|HINCRBY k w n|HINCRBYFLOAT k w s
HSCAN k 0 ?f|LPUSH k +w|RPUSH k +w|RPUSH k +w|LPUSHX k w|RPUSHX k +w|LPOP k ?n|RPOP k ?n|LLEN k
LRANGE k n n|LINDEX k n|LSET k n w|LREM k n w|LTRIM k n n|LINSERT k BEFORE w w|LINSERT k AFTER w w
LINSERT k w w w|LPOS k w|LPOS k w RANK n|LPOS k w COUNT n|LPOS k w MAXLEN n COUNT n
LMOVE k k LEFT RIGHT|LMOVE k k RIGHT LEFT|RPOPLPUSH k k|SADD k +w|SADD k +w|SREM k +w|SMEMBERS k
SCARD k|SISMEMBER k w|SMISMEMBER k +w|SMOVE k k w|SINTER +k|SUNION +k|SDIFF +k|SINTERSTORE k +k
SUNIONSTORE k +k|SDIFFSTORE k +k|SINTERCARD 2 k k|SINTERCARD n k k|SINTERCARD 2 k k LIMIT n
SPOP k n n|SSCAN k 0|ZADD k s w|ZADD k s w s w|ZADD k ?f ?f s w|ZADD k s|ZINCRBY k s w|ZREM k +w
ZSCORE k w|ZMSCORE k +w|ZCARD k|ZCOUNT k b b|ZLEXCOUNT k l l|ZRANK k w|ZREVRANK k w
ZRANGE k n n ?WITHSCORES|ZRANGE k n n REV|ZRANGE k b b BYSCORE ?WITHSCORES
ZRANGE k b b BYSCORE REV LIMIT n n|ZRANGE k l l BYLEX ?REV|ZRANGE k n n LIMIT 0 1
ZRANGE k l l BYLEX WITHSCORES|ZREVRANGE k n n ?WITHSCORES|ZRANGEBYSCORE k b b ?WITHSCORES
ZRANGEBYSCORE k b b LIMIT n n|ZREVRANGEBYSCORE k b b|ZRANGEBYLEX k l l|ZREVRANGEBYLEX k l l
ZREMRANGEBYRANK k n n|ZREMRANGEBYSCORE k b b|ZREMRANGEBYLEX k l l|ZPOPMIN k ?n|ZPOPMAX k ?n
ZRANGESTORE k k n n|ZUNIONSTORE k 2 k k|ZINTERSTORE k 2 k k WEIGHTS s s
ZUNIONSTORE k 2 k k AGGREGATE MAX|ZUNION 2 k k ?WITHSCORES|ZINTER 2 k k ?WITHSCORES
ZDIFF 2 k k ?WITHSCORES|ZDIFFSTORE k n k k|ZSCAN k 0|SCAN 0 COUNT 1000|SCAN 0 MATCH p COUNT 1000
SCAN 0 COUNT 1000 TYPE hash|SCAN zz|GET|SET k|NOSUCH k w|LPUSH k|ZADD k|MULTI|MULTI|EXEC|EXEC
DISCARD|WATCH +k|UNWATCH|FLUSHDB|BLPOP k k n|BRPOP k 0.01|BLPOP k w|BRPOPLPUSH k k 0.01
BLMOVE k k LEFT RIGHT 0.01|BZPOPMIN k 0.01|BZPOPMAX k k 0.01|CLIENT SETNAME w|CLIENT GETNAME
CLIENT NOSUCH|CLIENT SETNAME|CLIENT NO-EVICT on|PUBLISH w w|HELLO 4|HELLO x|AUTH w|AUTH default w
AUTH w w w|RESET now|QUIT2|PUBSUB NUMPAT|PUBSUB NUMSUB w|PUBSUB CHANNELS|PUBSUB NOSUCH
COMMAND NOSUCH|CONFIG NOSUCH
"""
TEMPLATES = [shape.split() for line in SHAPES.strip().splitlines() for shape in line.split("|")]
POOLS = {
    "k": KEYS, "w": WORDS, "n": NUMBERS, "s": SCORES, "b": BOUNDS, "l": LEX, "f": FLAGS,
    "p": PATTERNS,
}  # fmt: skip

# One script a line, each run with the key `k` and the arguments `v1` and `v2`.
SCRIPTS = r"""
return 1
return {1,2,{3,'x',nil,4}}
return 'a'..1 ..2.5
if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end
redis.call('set',KEYS[1],ARGV[1]) return redis.call('get',KEYS[1])
return redis.call('nosuch')
return redis.pcall('nosuch')
return redis.call('get')
return redis.call('lpush',KEYS[1],'x')
return redis.pcall('lpush',KEYS[1],'x')
return redis.call('set',KEYS[1],'v')
return redis.call('get','missing') == false
local t = {} for i=1,10 do t[i]=i*i end return t
local s=0 for k,v in pairs({1,2,3}) do s=s+v end return s
local s='' for i,v in ipairs({'a','b'}) do s=s..i..v end return s
return tonumber('12')+1
return tostring(1.5)
return tostring(10)
return 3.99
return -3.99
return true
return false
return nil
return redis.error_reply('BAD thing')
return redis.error_reply('-BAD thing')
return redis.status_reply('FINE')
return {ok='FINE'}
return {err='MY error'}
error('oops')
error({err='MY oops'})
x = 1
return x
return cjson.encode({a=1})
return cjson.encode({1,2,'x'})
return cjson.decode('{"a":[1,2,3]}').a
return #ARGV + #KEYS
return string.format('%d-%s-%5.2f', 3, 'x', 2.5)
return string.sub('hello', 2, -2)
return ('hello'):upper()
return table.concat({'a','b','c'}, ',')
local t={3,1,2} table.sort(t) return t
local t={3,1,2} table.sort(t, function(a,b) return a>b end) return t
local t={1,2} table.insert(t,3) table.insert(t,1,0) table.remove(t) return t
return math.floor(3.7) + math.max(1,5,2)
return {unpack({1,2,3},2)}
local f = function(...) return select('#',...) end return f(1,2,3)
local ok, e = pcall(function() error('x') end) return {tostring(ok), e}
local ok, e = pcall(redis.call, 'nosuch') return {tostring(ok), type(e)}
while true do break end return 'out'
repeat local a=1 until a==1 return 'r'
return 1 < 'x'
return nil .. 'x'
return {} + 1
local t = nil return t.x
return 10 % 3 + 2^3 / 4 - -1
return not nil and 1 or 2
return redis.sha1hex('abc')
return redis.call('multi')
return redis.call()
return redis.call({})
return redis.call('hgetall','h')
return redis.call('zrange','z',0,-1,'WITHSCORES')
return redis.call('zscore','z','a')
return redis.call('blpop','nolist',0)
retrun 1
return (
return type(redis.call('ping'))
return redis.call('ping').ok
return redis.call('select', 3)
return {1,nil,3}
local a <const> = 1
return 1 == 1.0
return 0x10
return "a\nb\065"
return [[long]]
-- comment
return tonumber('0x1f')
return tonumber('z', 36)
return 1e3
return 2^53
return tostring(2^53)
return 7 / 0 > 1e300
return {tostring(nil), tostring(true)}
return redis.call('incr', 'lcount')
return redis.call('set', 'x', 1, 'EX', 100).ok
return KEYS[1]
return ARGV[3]
return redis.log(redis.LOG_NOTICE, 'x')
KEYS = 1
""".strip().splitlines()


def parts(chance: random.Random, part: str) -> list[bytes]:
    if part.startswith("?"):
        return parts(chance, part[1:]) if chance.random() < 0.5 else []
    if part.startswith("+"):
        return [chance.choice(POOLS[part[1:]]) for _ in range(chance.randint(1, 3))]
    return [chance.choice(POOLS[part]) if part in POOLS else part.encode()]


def command(chance: random.Random) -> list[bytes]:
    """One that does not wait for ever, and leaves no more behind than a few entries."""
    while True:
        name, *shape = chance.choice(TEMPLATES)
        request = [name.encode(), *(each for part in shape for each in parts(chance, part))]
        waits = name in {"BLPOP", "BRPOP"} and request[-1] not in {b"x", b"hello", b"-1", b"0.01"}
        if not waits:
            return request


def plain(request: list[bytes], reply: Any) -> Any:
    """A reply without what is arbitrary about it."""
    if request[0].upper() in UNORDERED and isinstance(reply, list):
        if request[0] in {b"SCAN", b"SSCAN"} and len(reply) == 2:
            return [reply[0], sorted(reply[1])]
        return sorted(reply)
    return reply
