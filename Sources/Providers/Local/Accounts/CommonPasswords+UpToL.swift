extension CommonPasswords {
  /// Those that begin with a digit or one of the letters up to l.
  static let upToL = """
    0.00000000 000webhost 00112233 01020304 0102030405 0192837465 0r968ji9ufj6 10203040 1020304050 1029384756 111222333
    111222tianya 11223344 1122334455 112233445566 11235813 1123581321 12131415 123321123 12345600 123456123 12345671
    12345677 123456781 1234567890- 12345678900 1234567890a 1234567890q 1234567891 12345678910 1234567891011
    123456789101112 123456789123 1234567899 123456789a 123456789abc 123456789b 123456789c 123456789d 123456789e
    123456789f 123456789g 123456789h 123456789j 123456789k 123456789l 123456789m 123456789n 123456789o 123456789p
    123456789q 123456789qwe 123456789r 123456789s 123456789t 123456789v 123456789w 123456789z 12345678a 12345678q
    12345678s 12345679 1234567a 1234567j 1234567m 1234567q 1234567s 1234567z 123456987 123456aa 123456aaa 123456ab
    123456abc 123456as 123456asd 123456qq 123456qw 123456qwe 12345abc 12345qwe 123654789 12369874 123698741 123698745
    123789456 123abc123 123admin321 123asd123 123hfjdk147 123mudar 123qwe123 123qwe123qwe 123qweasd 123qweasdzxc
    123qwerty 12qw23we 12qw34er 12qwaszx 13243546 134679852 1357913579 135792468 1357924680 147258369 147852369 14789632
    147896325 15426378 159753123 159753456 168asd168 18atcskd2w 18n28n24a5 192837465 1a2a3a4a 1a2b3c4d 1a2b3c4d5e
    1a2s3d4f 1andonly 1asshole 1babygirl 1diamond 1football 1fr2rfq7xl 1fuckyou 1g2w3e4r 1iloveyou 1loveyou 1michael
    1million 1myspace 1password 1princess 1q2w3e4r 1q2w3e4r5 1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i
    1q2w3e4r5t6y7u8i9o 1q2w3e4r5t6y7u8i9o0p 1qa2ws3ed 1qay2wsx 1qaz!qaz 1qaz2wsx 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qazxsw2
    1qazxsw23edc 1qazzaq1 1sunshine 1truelove 1v7upjw3nt 1z2x3c4v 1zn6fpn01x 2012comeer 22334455 22446688 23jordan
    24681012 25011990 25251325 29rsavoy 31415926 321654987 369258147 369852147 393041123 3children 3d8cubaj2e 3odi15ngxb
    3rjs1la2qe 3rjs1la7qe 3rjs5la8qe 421uiopy258 456789123 4815162342 4myspace 520love101182 5532361cnjqrf 5hsu75kpot
    5xfgs3ii9d 69camaro 6hbf28w791 6v21wbgad 73501505 74108520 741258963 741852963 7777777a 789456123 7894561230
    789632145 789654123 7ugd5hip2j 87654321q 8ix6s1fceh 9-11-1961 9293709b13 92k2cizcdp 963258741 963852741 987456321
    987654321a a1234567 a12345678 a123456789 a123456a a1a2a3a4 a1a2a3a4a5 a1b2c3d4 a1b2c3d4e5 a1s2d3f4 a1s2d3f4g5
    a838hfid aa123456 aaa123123 aaliyah1 aaron123 aaron431 ab123456 abc12345 abc123456 abc123abc abcde123 abcdef123
    abcdefg1 abcdefg123 abdullah aberdeen abhishek abigail1 abracadabra abrakadabra account1 addison1 adekunle adelaide
    adgjmptw admin123 administrator adriana1 adventure aerosmith agent007 agnieszka airborne airforce airforce1 airplane
    akatsuki akax89wn akopa123 alabama1 albatros alberto1 alejandra alejandra1 alejandro alejandro1 aleksandr aleksandra
    alessandra alessandro alex1234 alexander alexander1 alexander2 alexandr alexandra alexandra1 alexandre alexandria
    alexandru alexis12 alfaromeo alladin79 allah786 allison1 allstar1 almighty amanda12 amanda123 amandine amarillo
    amazing1 amber123 america1 america10 america123 american american1 amorcito amoremio amsterdam anaconda anamaria
    anastasia anastasiya anderson anderson1 andrew01 andrew11 andrew12 andrew123 andromeda angel101 angel123 angelbaby
    angelbaby1 angelica angelica1 angelika angelina angelina1 angeline angelique angelito anhyeuem animals1 annabelle
    annalisa annamaria annette1 anthony1 anthony12 anthony123 anthony2 anthony3 anthony7 antonella antonio1 anuradha
    anything anything1 aobo2010 apollo13 apple123 applepie applepie1 aquarius arabella24630 argentina arianna1 arizona1
    armagedon armando1 arschloch arsenal1 arsenal123 as123456 as790433 asd12345 asd123456 asd123asd asdasd123 asdf3423
    asdfasdf1 asdfg123 asdfgh12 asdfgh123 asdfghj1 asdfghjkl1 asdfghjkl123 asdqwe123 ashleigh ashleigh1 ashley01
    ashley11 ashley12 ashley123 ashley13 aspirine assassin asshole1 asshole123 asshole2 astonvilla atlanta1 atlantis
    attitude austin12 austin316 australia australia1 awesome1 az123456 azerty123 azertyui azertyuiop azsxdcfv babatunde
    baby1234 babyblue babyblue1 babyboo1 babyboy1 babyboy2 babycakes babycakes1 babydoll babydoll1 babyface babyface1
    babygirl babygirl01 babygirl09 babygirl1 babygirl10 babygirl11 babygirl12 babygirl13 babygirl14 babygirl15 babygirl2
    babygirl3 babygirl5 babygirl7 babygurl babygurl1 babygurl12 babylon5 babylove babylove1 babyphat1 backspace
    backspace1 badgirl1 badminton baller23 bananas1 bangalore bangladesh barbados barbara1 barcelona barcelona1 baseball
    baseball1 baseball10 baseball11 baseball12 baseball13 baseball14 baseball2 baseball21 baseball22 baseball23
    baseball24 baseball3 baseball4 baseball5 baseball6 baseball7 baseball8 baseball9 basketball bastard1 batista1
    batman12 batman123 battlefield bautista bearshare beatles1 beatrice beautiful beautiful1 beckham23 beckham7
    beethoven bella123 bengals1 benjamin benjamin1 bentley1 bernadette bernard1 bernardo bestfriend bestfriends bethany1
    bettyboop bettyboop1 beyonce1 bigdaddy bigdaddy1 bigdick1 bighead1 bigmoney bigmoney1 bigpimpin1 billabong
    billabong1 billy123 billybob billybob1 bionicle birthday birthday1 biscuit1 bismillah bitch101 bitch123 bitchass1
    bitches1 bkl29m2bk black123 blackberry blackbird blackcat blackdog blackie1 blackjack blackjack1 blackman blackrose
    blahblah1 blasted1 blessed1 blessing blessings blingbling blink123 blink182 blizzard blondie1 blossom1 blue1234
    blueberry blueberry1 bluebird blueeyes blueeyes1 bluefish bluemoon bobby123 bobmarley bobmarley1 bollocks bonehead
    boobies1 bookmark bookworm bordeaux boricua1 bowling1 bradley1 brandon1 brandon12 brandon123 brandon2 braveheart
    brayden1 breanna1 brendan1 brian123 brianna1 briciola brighton brigitte britney1 brittany brittany1 brittney
    brittney1 broadway broncos1 brooklyn brooklyn1 brother1 brothers brownie1 brucelee bruno123 bubba123 bubblegum
    bubblegum1 bubbles1 bubbles12 bubbles123 bubbles2 buckeye1 buckeyes buckeyes1 buddy123 buddyboy budlight budlight1
    budweiser buffalo1 bugsbunny bulldog1 bulldogs bulldogs1 bullshit bullshit1 bumblebee bunny123 business business1
    buster01 buster12 buster123 buttercup buttercup1 butterfly butterfly1 butterfly2 butterfly3 butterfly7 butthead
    butthead1 butthole butthole1 buttons1 byusdg23 c43qpul5rz cadillac caitlin1 california calimero callofduty camaroz28
    cambiami cameron1 camille1 campbell candice1 candy123 candyman cannabis cantona7 capricorn capricorn1 capslock
    captain1 caramelo cardinal cardinals cardinals1 carebear carebear1 career121 carlitos carlos12 carlos123 carlotta
    carolina carolina1 caroline caroline1 carpediem cartman1 casablanca casanova cashmoney cashmoney1 cassandra
    cassandra1 cassidy1 castillo catalina catarina caterina catfish1 catherine catherine1 catwoman cavalier cdtnkfyf
    celeste1 cellphone cellphone1 celtic1888 central1 cepetsugih cfitymrf champion champion1 chandler chandler1 changeme
    changeme1 charger1 chargers chargers1 chargers21 charlene charles1 charlie1 charlie12 charlie123 charlie2 charlotte
    charlotte1 charmed1 cheater1 cheer123 cheese12 cheese123 cheesecake cheetah1 chelsea1 chelsea123 chelseafc chemical
    chemistry cherokee cherokee1 cherries cherry123 chester1 chevelle chevrolet chevys10 cheyenne cheyenne1 chicago1
    chicken1 chicken123 chicken2 chickens children children3 chipper1 chiquita chivas10 chivas11 chivas12 chivas123
    chloe123 chocolat chocolate chocolate1 chocolate2 chopper1 choupette chris123 chrisbrown chrissy1 christian
    christian1 christina christina1 christine christine1 christmas christmas1 christophe christopher christy1 chronic1
    cinderella cinnamon cjkysirj cjmasterinf clarence clarinet clarissa classic1 classof07 classof08 classof09
    classof201 claudia1 clayton1 clemson1 cleopatra cleveland cleveland1 clifford clifford1 cm6e7aumn9 cocacola
    cocacola1 coconut1 coldplay colleen1 college1 colombia colombia1 colorado colorado1 columbia comeon11 commando
    computer computer1 computer12 computer2 confused control1 converse cookie12 cookie123 cookiemonster cookies1
    coolcat1 cooldude cooldude1 coolgirl coolkid1 coolman1 corazon1 corvette corvette1 counterstrike country1 courtney
    courtney1 cowboys1 cowboys22 cowgirl1 cracker1 crazy123 creative creative1 cricket1 crip4life cristian cristiano
    cristina cristina1 crjhgbjy crystal1 cucciolo cuddles1 cupcake1 cutegirl cutie101 cutie123 cutiepie cutiepie1
    cynthia1 d1lakiss d2xyw89sxj d71lwz9zjs d9zufqd92n daddy123 daddysgirl daisy123 dalejr88 dallas214 dallas22 damilola
    dance123 dancing1 dangerous daniel01 daniel11 daniel12 daniel123 daniela1 daniella danielle danielle1 danny123
    dannyboy daredevil darkangel darkangel1 darkness darkness1 darkside darkstar daughter david123 davidson dbrnjhbz
    dearbook death666 deathnote december december1 december12 defender deftones deftones1 delacruz delphine delpiero
    demon123 demon1q2w3e demon1q2w3e4r demon1q2w3e4r5t demon666 derrick1 designer desiree1 destiny1 destroyer detroit1
    deutschland devil666 dfg5fhg5vgfh1 dfktynbyf diamante diamond1 diamond2 diamonds diamonds1 dickhead dickhead1
    dietcoke dietcoke1 digital1 dingdong dinosaur diosesamor diosesfiel director dirtbike dirtbike1 discovery disturbed
    disturbed1 diwtgm8492 dkflbckfd dkflbvbh doberman dodgers1 dolphin1 dolphins dolphins1 domenico dominic1 dominican1
    dominika dominique dominique1 dont4get doomsayer.2.7mords.v doomsayer.2.7mords.vv doraemon dorothy1 dortmund
    douglas1 download dpbk1234 dragon01 dragon11 dragon12 dragon123 dragon13 dragon69 dragonball dragonballz dragonfly
    dragonfly1 dragons1 dreamer1 drjynfrnt drowssap drowssap1 drpepper drpepper1 drummer1 dt123456 dthjybrf dumbass1
    durango1 dylan123 eastside eastside1 eatshit1 eclipse1 eduardo1 education edward123 eh1k9oh335 einstein ekaterina
    electric elefante element1 eleonora elephant elephant1 eleven11 elisabeth elizabeth elizabeth1 elizabeth2 emachines1
    emanuele emerald1 emiliano emily123 emmanuel emmanuel1 engineer england1 english1 enterprise ericsson escorpion
    esmeralda esperanza estrella estrella1 estrellita eternity evanescence evangelion evergreen everton1 evildick
    evolution evony192 excalibur explorer f00tball fabrizio fabulous facebook facebook1 faithful faithful1 falcons1
    fallout3 familiyafamiliya family123 familyguy1 fantasy1 farfalla fashion1 february federica federico felicia1
    felicidad felicidade fenerbahce fernanda fernandez fernando fernando1 ferrari1 fgtkmcby fighter1 finalfantasy
    fireball firebird firebird1 fireman1 fisherman fishing1 fktrcfylh fktrcfylhf flamengo flamingo fletcher flipper1
    florence florida1 flower12 flower123 flowers1 football football1 football10 football11 football12 football13
    football2 football21 football22 football23 football24 football3 football4 football5 football7 football8 football9
    fordf150 forever1 forever21 formula1 forzamilan forzaroma fountain fqrg7cs493 frances1 francesca francesco francine
    francis1 francisco francisco1 francois frankie1 franklin franklin1 freckles freckles1 freddie1 frederic frederick
    freebird freedom1 freedom2 freestyle freeze112 friday13 friendly friends1 friends123 friends2 friendship friendster
    frogger1 front242 fu7u4a#$$$ fuckface fuckface1 fucking1 fucklove fucklove1 fuckme69 fuckoff! fuckoff1 fuckoff2
    fuckthis fuckthis1 fuckyou! fuckyou. fuckyou1 fuckyou11 fuckyou12 fuckyou123 fuckyou13 fuckyou2 fuckyou22 fuckyou3
    fuckyou5 fuckyou666 fuckyou69 fuckyou7 fuk19600 fuku00198 fullaccess fussball fyfcnfcbz fyutkbyf g13916055158
    g9l2d1fzpy gabriel1 gabriela gabriela1 gabriele gabriella gabrielle gabrielle1 galatasaray gamecube gameover
    gandalf1 gangsta1 gangster gangster1 garfield garfield1 garrett1 gateway1 general1 genesis1 geoffrey george123
    georgia1 georgina geraldine germany1 geronimo gerrard8 gertrude getmoney getmoney1 gfhjkm123 ghbdtnbr ghbdtnrfrltkf
    ghjcnjnfr ghostrider gianluca giggles1 gilbert1 ginger12 ginger123 giovanna giovanni giovanni1 girasole girlfriend
    giuseppe gizmo123 gladiator godbless goddess1 godfather godfather1 godhelpme godisgood godisgood1 godisgreat
    godislove godislove1 godofwar godsmack godzilla godzilla1 goldberg goldfish goldfish1 golfcourse gonzales gonzalez
    goodgirl goodluck goodness google12 google123 gordon24 gorgeous gorgeous1 gotohell grace123 grandma1 grandpa1
    green123 greenday greenday1 greenday12 gregory1 gretchen griffin1 grizzly1 groupd2013 gsxr1000 guadalupe guardian
    guatemala guilherme guillaume guillermo guinness guitarra gwerty123 h1xp2z2duk halflife hallo123 halloween
    halloween1 hamilton hamster1 handball handsome handsome1 hannah01 hannah12 hannah123 hannahmontana hannibal
    happiness happiness1 happy123 happyday happydays hardcore hardcore1 hardrock harley01 harmony1 harrison harrison1
    harry123 harrypotte harrypotter hawaii50 hayabusa heather1 heineken hellfire hello123 hello1234 hellohello
    hellokitty hellothere helloworld hellsing hendrix1 hercules hercules1 hermione hernandez hernandez1 hershey1
    highheel highlander history278 hockey11 hockey12 holiday1 holland1 hollister hollister1 hollister2 hollywood
    hollywood1 home0401 home1234 homelesspa homework hondacivic honduras honduras1 honey123 honeybee hongkong hooters1
    hospital hotgirl1 hotmail1 hotmama1 hotstuff hotstuff1 hottie101 hottie12 hottie123 houston1 houston713 huhbbhzu78
    hunter01 hunter12 hunter123 hunting1 hurricane hustler1 iamcool1 iamnumber1 iamthebest icecream icecream1 icehouse
    ichliebedich idontknow idontknow1 iforgot1 ig4abox4 ihatethisgame ihateyou ihateyou1 ihateyou2 ilikepie ilikepie1
    illinois ilove123 ilovechris ilovegod ilovegod1 iloveher1 ilovehim ilovehim1 ilovehim2 ilovejesus iloveme! iloveme1
    iloveme123 iloveme2 ilovemom ilovemom1 ilovemusic ilovemyfamily ilovemymom ilovemyself ilovesex iloveu12 iloveu123
    iloveyou iloveyou! iloveyou. iloveyou1 iloveyou10 iloveyou11 iloveyou12 iloveyou123 iloveyou13 iloveyou14 iloveyou2
    iloveyou21 iloveyou22 iloveyou23 iloveyou3 iloveyou4 iloveyou5 iloveyou69 iloveyou7 iloveyou8 iloveyou9 imissyou
    immortal imnumber1 imperial inactive1996aug incorrect incubus1 india123 indiana1 indonesia indya123 infiniti
    infinity information innocent insanity interests international internazionale internet internet1 inuyasha inuyasha1
    ireland1 ironmaiden ironman1 isabella isabella1 isabelle isabelle1 istanbul iverson1 iverson3 iw14fi9j iw14fi9jxl
    j123456789 j38ifubn jackass1 jackass2 jacket025 jackson1 jackson5 jacob123 jacqueline jaimatadi jakcgt333 jamaica1
    james007 james123 jamesbond jamesbond007 jamie123 january1 jasmine1 jasmine12 jasmine123 jasmine2 jason123 jazmine1
    jeanette jefferson jeffery1 jeffhardy jeffhardy1 jeffrey1 jellybean jellybean1 jennifer jennifer1 jenny123 jeremiah
    jeremiah1 jermaine jermaine1 jerusalem jessica1 jessica12 jessica123 jessica2 jessica3 jesucristo jesus123 jesus777
    jesuschris jesuschrist jesusfreak jesusis1 jesusislord jesussaves jg3h4hfn ji394su3 jillian1 jimmy123 jjcg16dj5k
    jobsearch joejonas1 johannes john!20130605at1753 johncena johncena1 johndeere johndeere1 johnpaul johnson1 joker123
    jonas123 jonathan jonathan1 jordan01 jordan11 jordan12 jordan123 jordan13 jordan23 josefina joseluis josephine
    joshua01 joshua12 joshua123 juancarlos juggalo1 juliette jumpman23 jundian2011xr junebug1 junior12 junior123
    jupiter1 just4fun justdoit justice1 justin01 justin11 justin12 justin123 justinbieb justinbieber justine1 juventus
    ka_djkhjsy6 kaitlyn1 kakashka kamasutra kamikaze kangaroo karolina kartoffelpuffer katarina katelyn1 katerina
    katherine katherine1 kathleen kathleen1 kathmandu kathryn1 katie123 katrina1 kawasaki kawasaki1 kayla123 kayleigh
    kelly123 kendall1 kennedy1 kenneth1 kentucky kentucky1 kevin123 keyboard kickass1 kifj9n7bfu killbill killer11
    killer12 killer123 killer13 kimberly kimberly1 king1234 kingdom1 kingkong kingkong1 kingsley kingston kissmyass
    kissmyass1 kittens1 kitty123 kittycat kittycat1 kittykat kittykat1 kleopatra knackwurst8853 komputer konstantin
    koolaid1 koroleva krasotka kristen1 kristian kristin1 kristina kristina1 kristine krokodil krystal1 labrador
    lacrosse lacrosse1 ladybug1 ladygaga laetitia lakers24 lalala123 lamborghini lampard8 lancelot landrover lasvegas
    lasvegas1 laura123 laurel12creek laurence lavender lawrence lawrence1 layouts1 leavemealone lebron23 left4dead
    legolas1 lemonade leonard1 leonardo leonardo1 lesbian1 letmein1 letmein123 letmein2 libertad liberty1 lifeisgood
    lifesucks lifesucks1 lighthouse lightning lightning1 lightpower12345 lillian1 lilmama1 lilwayne lilwayne1 lincoln1
    linda123 lindsay1 lindsey1 lineage2 linkedin linkedin1 linkedin123 linkedin2011 linkinpark lionheart lionking
    littlebit littleman littleman1 livelife liverpool liverpool1 liverpool8 livestrong lizottes logitech logitech1
    lokomotiv lol12345 lolipop1 lollipop lollipop1 lollypop lollypop1 london12 london123 london22 lonewolf longhorn
    longhorns longhorns1 loredana lorenzo1 lorraine lorraine1 losangeles loser123 louloute love1234 love12345 love123456
    love2008 love2009 love2010 love4ever love4life love4you lovebird lovebug1 lovehate lovehurts lovehurts1 loveislife
    loveless lovelife lovelife1 lovelove1 lovely123 loveme12 loveme123 lover123 loverboy loverboy1 lovergirl lovergirl1
    lovestory lovesucks lovesucks1 loveyou1 loveyou123 loveyou2 lovingyou lowrider lowrider1 lucas123 lucky123 luckydog
    ludacris lydcc20091314

    """
}
